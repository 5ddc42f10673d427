package masterlist

import (
	"bytes"
	"io"

	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// Formats are the list formats of masters and of the master command. Each is
// detected from the first bytes.
func Formats() (formats []list.Format) {
	for _, kind := range []master.Kind{
		master.KindPages, master.KindWeb, master.KindAtAddress, master.KindLines,
	} {
		formats = append(formats, list.Format{
			Name:  kind.String(),
			Sniff: func(head []byte) bool { return master.Sniff(head) == kind && hasDetails(kind, head) },
			Read:  readList,
		})
	}
	return formats
}

// hasDetails reports whether a list tells what a master knows of its servers in
// a master's words. Other lines of JSON, such as a census, are read by package
// target.
func hasDetails(kind master.Kind, head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return kind != master.KindLines || !bytes.Contains(line, []byte(`"ip"`)) &&
		(bytes.Contains(line, []byte(`"gamedir"`)) || bytes.Contains(line, []byte(`"appid"`)))
}

// readList yields the entries of a list that is not text.
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
			Addr: s.Addr, Tag: []byte(l.Tag()),
		}
		if s.Has != 0 {
			details = s.AppendMaster(details[:0])
			e.Master = details
		}
		more = more && yield(e)
	}
	return l.Err()
}
