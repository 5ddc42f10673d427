package list

import "fmt"

// Invalid is a line that does not name a target.
type Invalid struct {
	File string // as named; "standard input" for "-"
	Line int    // from 1
	Text string // the line, or its beginning; made printable
	Err  error  // a Fault
}

// Error returns file, line, fault and text in one line.
func (v Invalid) Error() string {
	return fmt.Sprintf("%s:%d: %v: %s", v.File, v.Line, v.Err, v.Text)
}

// Unwrap returns v.Err.
func (v Invalid) Unwrap() error { return v.Err }

// invalidLines counts and reports the lines that name no target. Its methods that
// return a bool report whether to continue.
type invalidLines struct {
	strict    bool          // the first one ends reading
	report    func(Invalid) // may be nil
	checkOnly bool          // neither count nor report lines
	counts    *counters

	in    *input // the input being read
	line  int    // the current line of in
	n     uint64 // invalid lines of in
	fatal error  // the error that ended reading
}

// at returns the position that is being read, with text as the text there.
func (l *invalidLines) at(text []byte) Invalid {
	return Invalid{File: show([]byte(l.in.title())), Line: l.line, Text: show(text)}
}

// add counts and reports text at the current line.
func (l *invalidLines) add(text []byte, err error) bool {
	if !l.count() {
		return true
	}
	v := l.at(text)
	v.Err = err
	return l.deliver(v)
}

// addAt counts and reports an earlier line.
func (l *invalidLines) addAt(v Invalid) bool { return !l.count() || l.deliver(v) }

// count counts a line and reports whether to report it, so that its text is made
// printable only if it is needed.
func (l *invalidLines) count() (wanted bool) {
	if !l.checkOnly {
		l.n++
		l.counts.invalid.Add(1)
	}
	return l.strict || l.report != nil && !l.checkOnly
}

func (l *invalidLines) deliver(v Invalid) bool {
	if l.strict {
		l.fatal = v
		return false
	}
	l.report(v)
	return true
}
