package master_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/scanner/master"
)

// person is a server of a crowd.
type person struct {
	Addr          netip.AddrPort
	Name, Map, OS string
	Players       int32
}

// crowd simulates the Web API with arbitrary servers, for lists that a fleet can't
// provide.
type crowd struct {
	servers []person
	cap     int
	meets   func(s *person, c *master.Condition) bool
	later   int // the cap after the first answer; 0: cap
	calls   int
	lines   [][]byte // JSON of each server, made when first needed
}

// line returns the JSON of server i, followed by a comma.
func (c *crowd) line(i int) []byte {
	if c.lines == nil {
		c.lines = make([][]byte, len(c.servers))
	}
	if s := &c.servers[i]; c.lines[i] == nil {
		b, _ := json.Marshal(map[string]any{
			"addr": s.Addr, "name": s.Name, "map": s.Map, "players": s.Players, "os": s.OS,
		})
		c.lines[i] = append(b, ',')
	}
	return c.lines[i]
}

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.calls++
	f, err := master.ParseFilter(r.URL.Query().Get("filter"))
	if err != nil || len(r.URL.String()) > 8000 || !utf8.ValidString(f.String()) {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	most := c.cap
	if c.calls > 1 && c.later > 0 {
		most = c.later
	}
	var b strings.Builder
	n := 0
	for i := range c.servers {
		s := &c.servers[i]
		if n == most || !c.all(s, f) {
			continue
		}
		b.Write(c.line(i))
		n++
	}
	fmt.Fprintf(w, `{"response":{"servers":[%s]}}`, strings.TrimSuffix(b.String(), ","))
}

func (c *crowd) all(s *person, f []master.Condition) bool {
	for i := range f {
		if !c.one(s, &f[i]) {
			return false
		}
	}
	return true
}

func (c *crowd) one(s *person, d *master.Condition) bool {
	if c.meets != nil {
		return c.meets(s, d)
	}
	return meets(s, d)
}

func meets(s *person, d *master.Condition) bool {
	some, every := false, true
	for i := range d.Group {
		m := meets(s, &d.Group[i])
		some, every = some || m, every && m
	}
	switch d.Key {
	case "or":
		return some
	case "nor":
		return !some
	case "nand":
		return !every
	case "map":
		return s.Map == d.Value
	case "name_match":
		start, wild := strings.CutSuffix(d.Value, "*")
		return s.Name == start || wild && strings.HasPrefix(s.Name, start)
	case "empty":
		return s.Players > 0
	case "linux":
		return s.OS == "l"
	}
	return true
}

// people returns n servers with different addresses. describe sets their other
// fields.
func people(n int, describe func(i int, s *person)) []person {
	servers := make([]person, n)
	for i := range servers {
		servers[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)}), 27015)
		servers[i].OS = "l"
		describe(i, &servers[i])
	}
	return servers
}

// spread returns a number that looks random but depends only on i.
func spread(i int) int { return int(uint32(i) * 2654435761 >> 8) }

// TestSplit checks that lists larger than the cap are fetched completely, each
// server once, with few requests.
func TestSplit(t *testing.T) {
	const limit = 1000
	tests := []struct {
		name    string
		servers []person
		most    int // maximum number of requests
	}{
		{"just under the cap", people(limit-1, func(int, *person) {}), 1},
		{"forty maps", people(10*limit, func(i int, s *person) {
			s.Map = fmt.Sprint("map", spread(i)%40)
		}), 32},
		{"a popular map, and many rare", people(10*limit, func(i int, s *person) {
			s.Map = fmt.Sprint("map", spread(i)%3000)
			if i%3 == 0 {
				s.Map = "de_dust2"
			}
			s.Name = string(rune('a'+spread(i)%26)) + fmt.Sprint(i)
		}), 32},
		{"names alone", people(6*limit, func(i int, s *person) {
			s.Name = "the same " + string(rune('A'+spread(i)%50)) + fmt.Sprint(i)
		}), 17},
		{"names that begin with the same bytes", people(3*limit, func(i int, s *person) {
			s.Name = string(rune(0x4E00+spread(i)%8*64)) + "服" // E4 B8 80, E4 B9 80 …
		}), 7},
		{"broken names", people(3*limit, func(i int, s *person) {
			s.Name = string("abcdefg\xff\xff\xff"[spread(i)%10]) + "server"
			if spread(i)%10 > 6 {
				s.Name = "\xffserver"
			}
		}), 8},
		{"names that are nested", people(8*limit, func(i int, s *person) {
			s.Name = fmt.Sprintf("server %05d", i) // the sample is the first 1,000 servers
		}), 32},
		{"players and system", people(3*limit, func(i int, s *person) {
			s.Players = int32(spread(i) % 2)
			s.OS = []string{"l", "w"}[spread(i)>>3%2]
		}), 8},
		{"names that can't be expressed", people(2*limit, func(i int, s *person) {
			s.Name = []string{"*a", `\b`, "?c", "中d", "", "\xffe", "[f]", "*"}[spread(i)%8]
			s.Map = []string{`x\y`, "a*", "", "ok", "dm"}[spread(i)>>4%5]
		}), 6},
		{"not seen in the sample", people(4*limit, func(i int, s *person) {
			s.Map = "first"
			if i >= limit {
				s.Map = fmt.Sprint("later", spread(i)%20)
			} else if i%2 == 0 {
				s.Map = "second"
			}
		}), 16},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := &crowd{servers: test.servers, cap: limit}
			got, s, _, err := fetchWeb(t, h, master.Config{Region: master.World, Cap: limit})
			if err != nil || !s.Complete || len(s.Capped) > 0 {
				t.Fatalf("%v, %v, %v", err, s.Complete, s.Capped)
			}
			if len(got) != len(test.servers) {
				t.Errorf("%d servers, want %d", len(got), len(test.servers))
			}
			t.Logf("%d servers in %d calls", len(got), h.calls)
			if h.calls > test.most {
				t.Errorf("%d calls, want at most %d", h.calls, test.most)
			}
		})
	}
}

// TestSplitOtherCaps checks that answers of twice the cap count as cut, and answers with
// as many servers as another one (EC-159).
func TestSplitOtherCaps(t *testing.T) {
	servers := people(10_000, func(i int, s *person) { s.Map = fmt.Sprint("map", spread(i)%40) })
	h := &crowd{servers: servers, cap: 4000, later: 1500}
	got, s, _, err := fetchWeb(t, h, master.Config{Region: master.World, Cap: 2000})
	if err != nil || !s.Complete || len(got) != len(servers) {
		t.Errorf("EC-159: %v, %v, %d servers in %d calls", err, s.End, len(got), h.calls)
	}
}

// TestSplitLong checks that no request is longer than masters accept, and that the
// fetch ends as incomplete if that makes servers unreachable.
func TestSplitLong(t *testing.T) {
	const limit = 1000
	h := &crowd{cap: limit, servers: people(4*limit, func(i int, s *person) {
		s.Map = strings.Repeat("名", 60) + fmt.Sprint(spread(i)%30)
	})}
	got, s, _, err := fetchWeb(t, h, master.Config{Region: master.World, Cap: limit})
	if err != nil || s.Complete || len(got) < 2*limit {
		t.Fatalf("%v, %v, %d servers", err, s.End, len(got))
	}
}

// TestSplitCapped checks that Stats.Capped reports the unreachable servers, and
// that all other servers are fetched.
func TestSplitCapped(t *testing.T) {
	const limit = 500
	servers := people(4*limit, func(i int, s *person) {
		s.Map, s.Name = "fake", "a fake server"
		if i%4 == 3 {
			s.Map, s.Name = "real", fmt.Sprint("server", i)
		}
	})
	h := &crowd{servers: servers, cap: limit}
	got, s, _, err := fetchWeb(t, h, master.Config{Region: master.World, Cap: limit})
	if err != nil || s.Complete || len(s.Capped) != 1 {
		t.Fatalf("%v, %v, %q", err, s.End, s.Capped)
	}
	real := 0
	for i := range servers {
		if servers[i].Map == "real" && got[servers[i].Addr] {
			real++
		}
	}
	if real != limit || len(got) < 2*limit {
		t.Errorf("%d of %d real servers, %d in all", real, limit, len(got))
	}
	if c := s.Capped[0]; !strings.Contains(c, "500 servers") {
		t.Errorf("%v", c)
	}
}

// TestSplitAlike checks that, if all servers of the sample are alike, the servers
// that differ from them are fetched.
func TestSplitAlike(t *testing.T) {
	const limit = 500
	h := &crowd{cap: limit, servers: people(limit+300, func(i int, s *person) {
		s.Map, s.Name = "fake", "a fake server"
		if i >= limit {
			s.Name = "hidden behind it"
		}
	})}
	got, s, _, err := fetchWeb(t, h, master.Config{Region: master.World, Cap: limit})
	if err != nil || len(got) != limit+300 || s.Complete {
		t.Errorf("%v, %d servers, %v", err, len(got), s.End)
	}
}

// TestSplitMasters checks that the fetch ends if the master ignores filters or does
// not know "or", and that MaxCalls limits the number of answers.
func TestSplitMasters(t *testing.T) {
	const limit = 500
	servers := people(4*limit, func(i int, s *person) { s.Map = fmt.Sprint("map", spread(i)%40) })
	deaf := &crowd{servers: servers, cap: limit, meets: func(*person, *master.Condition) bool { return true }}
	got, s, _, err := fetchWeb(t, deaf, master.Config{Region: master.World, Cap: limit})
	if err != nil || s.Complete || len(got) != limit || deaf.calls > 20 {
		t.Errorf("deaf: %v, %v, %d servers, %d calls", err, s.End, len(got), deaf.calls)
	}
	noOr := &crowd{servers: servers, cap: limit, meets: func(s *person, c *master.Condition) bool {
		return c.Key != "or" && meets(s, c)
	}}
	got, s, _, err = fetchWeb(t, noOr, master.Config{Region: master.World, Cap: limit})
	if err != nil || !s.Complete || len(got) != len(servers) || noOr.calls > 65 {
		t.Errorf("without or: %v, %v, %d servers, %d calls", err, s.End, len(got), noOr.calls)
	}
	blind := &crowd{servers: servers, cap: limit}
	got, _, _, err = fetchWeb(t, blind, master.Config{Region: master.World, Cap: limit, Answers: 3})
	if !errors.Is(err, master.ErrTooMuch) || blind.calls != 3 || len(got) < limit {
		t.Errorf("three calls: %v, %d servers, %d calls", err, len(got), blind.calls)
	}
	wantError(t, err, "more answers than the maximum, 3")
}
