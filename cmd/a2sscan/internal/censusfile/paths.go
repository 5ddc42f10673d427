package censusfile

import (
	"os"
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Overwritten returns an error if path, the value of a flag for an output, is one of the files
// that the command reads.
func Overwritten(flag, path string, read []string) error {
	for _, in := range read {
		x, err1 := os.Stat(in)
		y, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && x.Mode().IsRegular() && os.SameFile(x, y) {
			return console.Fail(console.ExitUsage, "%s would overwrite the input file %s", flag, console.Plain(in, 200)).
				WithHint("choose another file for the output")
		}
	}
	return nil
}

// SamePath reports whether both paths are equal as absolute paths. The files need not
// exist. An empty path is not equal to any path.
func SamePath(a, b string) bool {
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return a != "" && err1 == nil && err2 == nil && x == y
}
