package masterlist

import (
	"bytes"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/list"
)

// TestFormats: lines of JSON with the keys of a master are recognised as a master's
// list. Lines of a census are not, so that each is reported as a bad line.
func TestFormats(t *testing.T) {
	tests := []struct {
		head string
		want string
	}{
		{`{"response":{"servers":[{"addr":"1.2.3.4:5","appid":440}]}}`, "Web API JSON (GetServerList)"},
		{`{"addr":"1.2.3.4:5","gameport":5,"appid":440}` + "\n", "NDJSON"},
		{`{"addr":"1.2.3.4:5","gamedir":"tf"}` + "\n" + `{"ip":"1.2.3.4"}`, "NDJSON"},
		{`{"addr":"1.2.3.4:5"}` + "\n", ""},
		{`{"schema":1,"ip":"1.2.3.4","port":5,"info":{"appid":1}}` + "\n", ""},
		{`{"ip":"1.2.3.4","port":5,"master":{"appid":440}}` + "\n", ""},
		{"1.2.3.4:5\n", ""},
	}
	for _, test := range tests {
		got := ""
		for _, f := range Formats() {
			if got == "" && f.Sniff([]byte(test.head)) {
				got = f.Name
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.head, got, test.want)
		}
	}
	var details []byte
	for _, f := range Formats() {
		if f.Sniff([]byte(tests[1].head)) {
			_ = f.Read(bytes.NewReader([]byte(tests[1].head)), func(e list.Entry) bool {
				details = bytes.Clone(e.Master)
				return true
			})
		}
	}
	if !bytes.Contains(details, []byte(`"app_id":440`)) {
		t.Errorf("the details are %s", details)
	}
}
