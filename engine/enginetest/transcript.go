package enginetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write what the stories in testdata come to, instead of comparing it")

// Run tells every story in testdata/*.txt and compares the results. With -rewrite it writes the results into the
// files: read the difference before you keep it.
//
// A story is read line by line. Lines without indent are sentences, which are carried out in the order of the
// file; indented lines are the results:
//
//	= the reply, or to whom it goes     ~ the caller waits
//	+ a fact that is journaled          (+) one that a crash forgets
//	> a message to another actor        ! a broken invariant, or a lost state
//
// A line that begins with # is a remark. The sentences are in sentences.go.
func Run(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			was, err := os.ReadFile(file)
			require.NoError(t, err)
			now := tell(t, string(was))
			if *rewrite {
				require.NoError(t, os.WriteFile(file, []byte(now), 0o600))
				return
			}
			require.Equal(t, string(was), now)
		})
	}
}

// tell runs a story and returns it with the results of each line. The sentences and remarks are written back as
// they are, so the text that it returns can take the file's place.
func tell(t *testing.T, text string) string {
	t.Helper()
	w := newStory()
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, " ") {
			// The results of the last run are left out, because this run writes its own.
			continue
		}
		w.out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		require.NoError(t, w.say(strings.Fields(line)), "line %d: %s", n+1, line)
		require.NoError(t, w.check(), "after line %d: %s", n+1, line)
	}
	return w.out.String()
}
