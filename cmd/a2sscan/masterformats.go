package main

import (
	"bytes"
	"io"

	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// masterFormats are the kinds of lists that masters write, and we: each is
// known by how it begins.
func masterFormats() (formats []list.Format) {
	for _, kind := range []master.Kind{
		master.KindPages, master.KindWeb, master.KindAtAddress, master.KindLines,
	} {
		formats = append(formats, list.Format{
			Name:  kind.String(),
			Sniff: func(head []byte) bool { return master.Sniff(head) == kind && saysMore(kind, head) },
			Read:  readMasterList,
		})
	}
	return formats
}

// saysMore reports whether a list tells what a master knows of its servers in
// a master's words. Other lines of JSON, such as a census, are read by package
// target.
func saysMore(kind master.Kind, head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return kind != master.KindLines || !bytes.Contains(line, []byte(`"ip"`)) &&
		(bytes.Contains(line, []byte(`"gamedir"`)) || bytes.Contains(line, []byte(`"appid"`)))
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
			Addr: s.Addr, Tag: []byte(l.Tag()),
		}
		if s.Has != 0 {
			said = s.AppendMaster(said[:0])
			e.Master = said
		}
		more = more && yield(e)
	}
	return l.Err()
}
