package main

import (
	"io"

	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// masterFormats are the kinds of lists that masters write. Each is known by how
// it begins.
func masterFormats() (formats []list.Format) {
	for _, kind := range []master.Kind{
		master.KindPages, master.KindWeb, master.KindAtAddress, master.KindLines,
	} {
		formats = append(formats, list.Format{
			Name:  kind.String(),
			Sniff: func(head []byte) bool { return master.Sniff(head) == kind },
			Read:  readMasterList,
		})
	}
	return formats
}

// readMasterList hands out the entries of a list that is not text.
func readMasterList(r io.Reader, yield func(list.Entry) bool) error {
	l, err := master.NewReader(r)
	if err != nil {
		return err
	}
	more := true
	l.Invalid = func(bad master.Invalid) {
		more = more && yield(list.Entry{Line: int(bad.Item), Fault: bad.Err})
	}
	var said []byte
	for l.Next() && more {
		s := l.Server()
		e := list.Entry{
			Line: int(l.Stats().Servers + l.Stats().Invalid),
			Addr: s.Addr,
		}
		if s.Has != 0 {
			said = s.AppendMaster(said[:0])
			e.Master = said
		}
		more = more && yield(e)
	}
	return l.Err()
}
