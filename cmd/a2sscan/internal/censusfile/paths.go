package censusfile

import (
	"os"
	"path/filepath"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Overwritten returns an error if path, the value of a flag for an output, is one of the files
// that the command reads, or if the new version beside the output would replace one of them.
func Overwritten(flag, path string, read []string) error {
	for _, out := range []string{path, disk.Resolve(path) + disk.PartSuffix} {
		y, err := os.Stat(out)
		if err != nil {
			continue
		}
		for _, in := range read {
			if x, err := os.Stat(in); err == nil && x.Mode().IsRegular() && os.SameFile(x, y) {
				return console.Fail(console.ExitUsage, "%s would overwrite the input file %s", flag, console.Plain(in, 200)).
					WithHint("choose another file for the output")
			}
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
