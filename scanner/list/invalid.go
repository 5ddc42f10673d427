package list

import "fmt"

// Invalid is a line that does not name a target.
type Invalid struct {
	File string // as named; "standard input" for "-"
	Line int    // line, item or argument number, from 1
	Text string // the line, or its beginning; made printable
	Err  error  // usually a Fault; for a host name, why its lookup failed
}

// Error returns the file, line, fault and text in one line.
func (v Invalid) Error() string {
	return fmt.Sprintf("%s:%d: %v: %s", v.File, v.Line, v.Err, v.Text)
}

// Unwrap returns v.Err.
func (v Invalid) Unwrap() error { return v.Err }

// invalidLines counts and reports lines that name no target. Its methods that
// return a bool report whether to continue.
type invalidLines struct {
	strict    bool          // stop at the first invalid line
	report    func(Invalid) // may be nil
	checkOnly bool          // neither count nor report lines
	counts    *counters

	in    *input // the input being read
	line  int    // the current line of in, or the index of the argument, from 1
	n     uint64 // number of invalid lines of in
	fatal error  // the error that ended reading
}

// at returns the current position in the input, with the given text.
func (l *invalidLines) at(text []byte) Invalid {
	return Invalid{File: show([]byte(l.in.title())), Line: l.line, Text: show(text)}
}

// add counts and reports the current line; text is its text.
func (l *invalidLines) add(text []byte, err error) bool {
	if !l.count() {
		return true
	}
	v := l.at(text)
	v.Err = err
	return l.deliver(v)
}

// addAt counts and reports a line that was read earlier.
func (l *invalidLines) addAt(v Invalid) bool { return !l.count() || l.deliver(v) }

// count counts an invalid line and returns whether to report it. The caller makes
// the text printable only in that case.
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
