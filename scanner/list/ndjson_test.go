package list

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnknownSchema checks that readNDJSON refuses a census with
// another schema. A list of another program may use the key "schema" for something
// else.
func TestUnknownSchema(t *testing.T) {
	const good = `{"schema":1,"ip":"192.0.2.1","port":1}` + "\n"
	for text, want := range map[string]string{
		good + good: "",
		good + `{"schema":2,"ip":"192.0.2.2","port":1}`:          "2",
		`{"schema":10,"ip":"192.0.2.2","port":1}`:                "10",
		`{"schema":"http://x/y","ip":"192.0.2.2","port":1}`:      "",
		`{"addr":"192.0.2.2:1","schema":2}`:                      "",
		`{"schema":99999999999999999999,"ip":"192.0.2.2","port"`: "",
		`{"schema":`: "",
	} {
		n := 0
		err := readNDJSON(strings.NewReader(text), func(Entry) bool { n++; return true })
		wanted := fmt.Sprintf("line %d is a record of schema %s,", n+1, want)
		if (err != nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), wanted) {
			t.Errorf("%s: %v after %d entries, want schema %q", text, err, n, want)
		}
	}
}
