package masterlist

import (
	"errors"
	"io"

	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// Formats returns the formats of lists that masters send or the master command
// writes. Each format is detected from the first bytes of a file.
func Formats() (formats []list.Format) {
	for _, kind := range master.Kinds {
		formats = append(formats, list.Format{
			Name: kind.Name, Sniff: kind.Sniff,
			Read: func(r io.Reader, yield func(list.Entry) bool) error {
				err := kind.Read(r, func(item int, s *master.Server, bad error) error {
					e := list.Entry{Line: item, Fault: bad}
					if bad == nil {
						e.Addr, e.Master = s.Addr, s.Details
					}
					if !yield(e) {
						return ErrEnough
					}
					return nil
				})
				if errors.Is(err, ErrEnough) {
					return nil
				}
				return err
			},
		})
	}
	return formats
}
