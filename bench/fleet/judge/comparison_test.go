package judge

import (
	"net/netip"
	"testing"
)

// TestComparison tries each way in which a census can differ from the wanted
// records.
func TestComparison(t *testing.T) {
	line := func(ip, rest string) []byte {
		return []byte(`{"schema":1,"ip":"` + ip + `","port":1,"status":"ok"` + rest + `}`)
	}
	c := NewComparison()
	for i, rest := range []string{`,"players":[]`, `, "players" : []`, `,"rules":{}`} {
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(i + 1)}), 1)
		if err := c.Want(at, line("203.0.113.7", rest)); err != nil {
			t.Fatal(err)
		}
	}
	for _, got := range [][]byte{
		line("127.0.0.1", `,"sent":4,"players":[]`), // as it was
		line("127.0.0.1", `,"players":[]`),          // twice
		line("127.0.0.2", `, "players" : [{}]`),     // differs
		line("127.0.0.9", ``),                       // no such server
		[]byte(`{"ip":"127.0.0.9","port":1,"status":"no_reply"}`),
	} {
		if err := c.Got(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
	differ := netip.MustParseAddrPort("127.0.0.2:1")
	if c.Servers != 3 || c.Same != 1 || !c.Differs(differ) || c.Others != 2 || c.Missing() != 1 || c.Good() {
		t.Errorf("%+v", c)
	}
	if c.Got([]byte(`{`)) == nil || c.Want(differ, []byte(`x`)) == nil {
		t.Error("a line that is not a record is accepted")
	}
}
