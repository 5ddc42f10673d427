package masterlist

import (
	"io"

	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// Formats returns the formats of lists that masters send or the master command
// writes. Each format is detected from the first bytes of a file.
func Formats() (formats []list.Format) {
	for _, kind := range []master.Kind{
		master.KindPages, master.KindWeb, master.KindAtAddress, master.KindLines,
	} {
		formats = append(formats, list.Format{
			Name:  kind.String(),
			Sniff: func(head []byte) bool { return master.Sniff(head) == kind },
			Read:  readList,
		})
	}
	return formats
}

// readList yields the entries of a list in any format of Formats.
func readList(r io.Reader, yield func(list.Entry) bool) error {
	l, err := master.NewReader(r)
	if err != nil {
		return err
	}
	more := true
	l.Invalid = func(bad master.Invalid) {
		more = more && yield(list.Entry{Line: int(bad.Item), Fault: bad.Err})
	}
	var details []byte
	for l.Next() && more {
		s := l.Server()
		e := list.Entry{
			Line: int(l.Stats().Servers + l.Stats().Invalid),
			Addr: s.Addr,
		}
		if s.Has != 0 {
			details = s.AppendMaster(details[:0])
			e.Master = details
		}
		more = more && yield(e)
	}
	return l.Err()
}
