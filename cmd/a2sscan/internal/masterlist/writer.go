package masterlist

import (
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strconv"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/master"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Writer writes the servers of a list. It creates the file for the first server, so a run
// that fetches nothing neither creates nor changes a file. Until the list is complete, the
// servers are in a temporary file, whose name is the path with disk.PartSuffix at the end.
// For standard output, a pipe or a device there is no temporary file.
type Writer struct {
	JSON  bool   // write what the master says about each server, not only its address
	Most  uint64 // maximum of Count; 0: no limit
	Count uint64 // servers written so far

	path   string // "-": standard output
	force  bool   // replace an existing list
	beside bool   // write to a temporary file first
	out    *sink.Output
	line   []byte
}

// NewWriter returns a writer after checking that the file can be created. The path
// "-" means stdout. If force is set, the writer may replace an existing file.
func NewWriter(path string, force bool, stdout io.Writer) (*Writer, error) {
	info, missing := os.Stat(path)
	o := &Writer{
		path: path, force: force, out: sink.New(path, sink.Options{Replace: true, Screen: stdout}),
		beside: path != "-" && (missing != nil || info.Mode().IsRegular()),
	}
	return o, existing(sink.New(path, sink.Options{Replace: force}).Check())
}

// Add writes one server. It returns ErrEnough after the last server that Most
// allows.
func (o *Writer) Add(s *master.Server) error {
	if o.Count == 0 {
		if err := o.out.Open(); err != nil {
			return censusfile.WriteFailure(err)
		}
	}
	o.Count++
	o.line = s.Addr.AppendTo(o.line[:0])
	if o.JSON {
		o.line = appendRecord(o.line[:0], s.Addr, s.Details)
	}
	if err := o.out.WriteLine(o.line); err != nil {
		return censusfile.WriteFailure(err)
	}
	if o.Count == o.Most {
		return ErrEnough
	}
	return nil
}

// appendRecord appends a server as a JSON object:
// {"schema":1,"ip":"203.0.113.7","port":27015,"master":{…}}, with "master" only if the
// master sent more than the address.
func appendRecord(dst []byte, addr netip.AddrPort, details []byte) []byte {
	dst = addr.Addr().AppendTo(append(dst, `{"schema":1,"ip":"`...))
	dst = strconv.AppendUint(append(dst, `","port":`...), uint64(addr.Port()), 10)
	if details != nil {
		dst = append(append(dst, `,"master":`...), details...)
	}
	return append(dst, '}')
}

// Close closes the file. If complete is set, Close also renames the temporary file to its
// final name.
func (o *Writer) Close(complete bool) error {
	if o.Count == 0 {
		return nil
	}
	if !complete {
		return censusfile.WriteFailure(o.out.Keep())
	}
	if _, err := os.Lstat(o.path); o.beside && !o.force && !errors.Is(err, fs.ErrNotExist) {
		err := o.out.Keep()
		return existing(errors.Join(err, &sink.Error{Op: "write", Path: o.path, Err: fs.ErrExist}))
	}
	return censusfile.WriteFailure(o.out.Commit())
}

// existing adds an exit code to an error of writing, and a hint if the file exists already.
// The hint names only flags of the command master.
func existing(err error) error {
	failure := censusfile.WriteFailure(err)
	if f, ok := errors.AsType[*console.Failure](failure); ok && errors.Is(err, fs.ErrExist) {
		f.WithHint("name another file with -o, or use --force to replace it")
	}
	return failure
}

// Kept returns the end of a sentence: where the incomplete list was saved.
func (o *Writer) Kept() string {
	if !o.beside {
		return "and saved"
	}
	kept := "and saved in " + console.Plain(disk.Resolve(o.path)+disk.PartSuffix, 200)
	if censusfile.IsFile(o.path) {
		kept += "; " + console.Plain(o.path, 200) + " is unchanged"
	}
	return kept
}
