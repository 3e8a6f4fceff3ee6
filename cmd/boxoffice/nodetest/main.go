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

// MostlyWaiting is how many tests run at a time in a package whose tests wait more than they work.
// More of them than cores then use the cores fully.
const MostlyWaiting = 6

// RealKeys is the environment variable that makes the workers of a test's nodes hash passwords as in service. A test
// that times answers sets it.
const RealKeys = "BOXOFFICE_TEST_REAL_KEYS"

// Main is the TestMain of a package whose tests start nodes. It limits how many tests run at a
// time, and fails if goroutines are left. A node starts its own program again as a worker that
// hashes passwords or makes images. In a test that program is the test's, so Main does the work of
// such a worker, with hashes that cost a hundredth (but see RealKeys).
func Main(m *testing.M, parallel int) {
	if len(os.Args) == 2 && os.Args[1] == hasher.Command {
		serve := hasher.ServeCheapKeys
		if os.Getenv(RealKeys) != "" {
			serve = hasher.Serve
		}
		if err := serve(os.Stdin, os.Stdout); err != nil {
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
	// persisttest runs the tests, together with the servers that they need, and then looks for
	// goroutines that are left.
	persisttest.Main(sharing{m},
		// fasthttp's clock for the Date header never ends, and its pools of workers check only
		// every 10 s whether their server has ended.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}
