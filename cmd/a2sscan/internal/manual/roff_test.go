package manual

import (
	"strings"
	"testing"
)

// TestRoff: the text of a page is escaped, so that the page shows the same
// characters.
func TestRoff(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{".start", `\&.start`},
		{"'start", `\(aqstart`},
		{`\appid\440 a-b 'c' ~^` + "`", `\(rsappid\(rs440 a\-b \(aqc\(aq \(ti\(ha\(ga`},
		{"with --dry-run, -q (--x) and a--b -1", `with \fB\-\-dry\-run\fR, \fB\-q\fR (\fB\-\-x\fR) and a\-\-b \-1`},
		{"…", `\[u2026]`},
		{"one\n\n  code -x\n  .y\n\ntwo", "one\n.PP\n.RS 4\n.nf\ncode \\-x\n\\&.y\n.fi\n.RE\n.PP\ntwo"},
	} {
		var p roff
		p.text(test.text)
		if got := strings.TrimSuffix(p.String(), "\n"); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}
