package masterlist

import "github.com/a2sscan/a2sscan/scanner/master"

// Writer writes the servers of a list to its Output.
type Writer struct {
	*Output
	Raw   bool   // write no servers: Handlers.Page writes the pages instead
	JSON  bool   // write everything that the master reported about a server
	Most  uint64 // end the list after this many servers; 0: no limit
	Count uint64 // servers written so far

	line []byte
}

// Add writes one server. It returns ErrEnough after the last server that Most
// allows.
func (w *Writer) Add(s *master.Server) error {
	w.Count++
	err := w.writeServer(s)
	if err == nil && w.Count == w.Most {
		return ErrEnough
	}
	return err
}

func (w *Writer) writeServer(s *master.Server) error {
	switch {
	case w.Raw:
		return nil // Handlers.Page has already written the page with the server
	case w.JSON:
		w.line = s.AppendLine(w.line[:0])
	default:
		w.line = append(s.Addr.AppendTo(w.line[:0]), '\n')
	}
	return w.Write(w.line)
}
