package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// withRules returns a result that has only rules.
func withRules(rs []wire.Rule) *scanner.Result {
	r := blank()
	r.HasRules, r.Rules = true, rs
	return r
}

// TestAnnounced: an announced count can be 0, and is absent without its list.
func TestAnnounced(t *testing.T) {
	r := blank()
	r.PlayersAnnounced, r.RulesAnnounced = 0, 0
	for _, want := range []string{
		`{"schema":1}`,
		`{"schema":1,"players":[],"players_announced":0,"rules":{},"rules_announced":0}`,
	} {
		if got := string(Append(nil, "", r)); got != want+"\n" {
			t.Errorf("%s, want %s", got, want)
		}
		r.HasPlayers, r.HasRules = true, true
	}
}

func TestRules(t *testing.T) {
	tests := []struct {
		name string
		in   []wire.Rule
		want string
	}{
		{"none", nil, `"rules":{}`},
		{"in order", rulesOf("b", "1", "a", "2"), `"rules":{"b":"1","a":"2"}`},
		{"no name", rulesOf("", "x"), `"rules":{"":"x"}`},
		{"no name twice", rulesOf("", "x", "", "y"), `"rules":{"":"x"},"rules_raw":[["","78"],["","79"]]`},
		{"the first wins", rulesOf("a", "1", "a", "2"),
			`"rules":{"a":"1"},"rules_raw":[["61","31"],["61","32"]]`},
		{"twice the same", rulesOf("a", "1", "a", "1"),
			`"rules":{"a":"1"},"rules_raw":[["61","31"],["61","31"]]`},
		{"case counts", rulesOf("a", "1", "A", "2"), `"rules":{"a":"1","A":"2"}`},
		{"a beginning of another", rulesOf("ab", "1", "a", "2"), `"rules":{"ab":"1","a":"2"}`},
		{"a name like an escape", rulesOf("\n", "1", `\n`, "2"), `"rules":{"\n":"1","\\n":"2"}`},
		{"an ill-formed value", rulesOf("a", "\xff"), `"rules":{"a":"` + "\ufffd" + `"},"rules_raw":[["61","ff"]]`},
		{"an ill-formed name", rulesOf("\xff", "1"), `"rules":{"` + "\ufffd" + `":"1"},"rules_raw":[["ff","31"]]`},
		{"two that become one", rulesOf("\xff", "1", "\xfe", "2", "\ufffd", "3"),
			`"rules":{"` + "\ufffd" + `":"1"},"rules_raw":[["ff","31"],["fe","32"],["efbfbd","33"]]`},
		{"an ill-formed value of a name that came before", rulesOf("a", "1", "a", "\xff"),
			`"rules":{"a":"1"},"rules_raw":[["61","31"],["61","ff"]]`},
	}
	for _, tt := range tests {
		record := Append(nil, "", withRules(tt.in))
		checkRecord(t, record)
		if want := `{"schema":1,` + tt.want + "}\n"; string(record) != want {
			t.Errorf("%s: %s, want %s", tt.name, record, want)
		}
	}
}

func checkPairs(t *testing.T, in []wire.Rule, raw [][2]string, want bool) {
	t.Helper()
	if (raw != nil) != want {
		t.Fatalf("%d rules: rules_raw is %v", len(in), raw != nil)
	}
	for i, pair := range raw {
		if name := string(unhex(t, pair[0])); name != string(in[i].Name) {
			t.Fatalf("rules_raw %d has the name %q, want %q", i, name, in[i].Name)
		}
		if value := string(unhex(t, pair[1])); value != string(in[i].Value) {
			t.Fatalf("rules_raw %d has the value %q, want %q", i, value, in[i].Value)
		}
	}
}

// TestManyRules appends as many rules as fit into the largest reply. If the search
// for names were quadratic, it would take minutes.
func TestManyRules(t *testing.T) {
	const n = 512 << 10 / 2
	same := slices.Repeat(rulesOf("", ""), n)
	var other []wire.Rule
	for i := range n {
		other = append(other, rulesOf(fmt.Sprint(i), "")...)
	}
	for name, in := range map[string][]wire.Rule{"same": same, "other": other} {
		record := Append(nil, "", withRules(in))
		if got := strings.Count(string(record), `:""`); name == "other" && got != n {
			t.Errorf("%s: %d of %d rules", name, got, n)
		}
		if !json.Valid(record) {
			t.Errorf("%s: not JSON", name)
		}
	}
}

// TestRulesDistinct: RulesDistinct does not change the record, even if names or
// values are not UTF-8.
func TestRulesDistinct(t *testing.T) {
	for _, pairs := range [][]string{
		{},
		{"a", "1", "b", "2"},
		{"a", "1", "A", "2", "", ""},
		{"a", "1", "\xff", "2", "b", "3"},
		{"\xff", "1", "\xfe", "2"},
		{"a", "\xff", "\uFFFD", "2", "\xfe", "3"},
	} {
		r := blank()
		r.HasRules, r.Rules = true, rulesOf(pairs...)
		want := Append(nil, "", r)
		r.RulesDistinct = true
		if got := Append(nil, "", r); string(got) != string(want) {
			t.Errorf("%q: %s, want %s", pairs, got, want)
		}
	}
}
