package nodetest

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"boxoffice/edge/hasher"
	"boxoffice/edge/images"
	"boxoffice/persistence/persisttest"
)

// MostlyWaiting is how many scenarios run at a time in a package where they wait more than they work.
const MostlyWaiting = 6

// Main is the TestMain of a package whose tests start nodes: it runs a limited number of the tests at a time,
// and fails if goroutines are left. A node's hasher and image maker start the test's program again as their
// workers.
func Main(m *testing.M, parallel int) {
	if len(os.Args) == 2 && os.Args[1] == hasher.Command {
		if err := hasher.ServeAtUsualPriority(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "hasher:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 5 && os.Args[1] == images.Command {
		if err := images.Work(os.Args[2], os.Args[3], os.Args[4], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = flag.Set("test.parallel", strconv.Itoa(parallel)) // the flag exists
	persisttest.Main(sharing{m},
		// fasthttp's clock for the Date header never ends, and its pools of workers check only
		// every 10 s whether their server has ended.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}
