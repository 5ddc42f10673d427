package record

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/bits"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

var update = flag.Bool("update", false,
	"write the golden records anew; read each of them before it is committed")

var golden = []struct {
	name   string
	scan   string
	result *scanner.Result
}{
	{"full", "20261120T030000Z", full()},
	{"goldsource", "20261120T030000Z", goldSource()},
	{"ship", "20261120T030000Z", ship()},
	{"partial", "", partial()},
	{"hostile", "scan \"\xff\"", vicious()},
	{"no_reply", "s", noReply()},
	{"send_failed", "s", sendFailed()},
	{"empty", "s", empty()},
	{"capture", "", capture()},
	{"nothing", "", blank()},
	{"ping", "s", pinged()},
}

func TestGolden(t *testing.T) {
	for _, tt := range golden {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join("..", "..", "testdata", "sink", tt.name+".json")
			got := Append(nil, tt.scan, tt.result)
			checkRecord(t, got)
			if *update {
				check(t, os.WriteFile(path, got, 0o666))
			}
			want, err := os.ReadFile(path)
			check(t, err)
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestEncoderAgain: an Encoder that has written another record writes the same
// record as a new Encoder, and does not change what dst held.
func TestEncoderAgain(t *testing.T) {
	var e Encoder
	for _, first := range golden {
		for _, then := range golden {
			e.Append(nil, first.scan, first.result)
			got := e.Append([]byte("before"), then.scan, then.result)
			want := "before" + string(Append(nil, then.scan, then.result))
			if string(got) != want {
				t.Errorf("%s after %s: %s, want %s", then.name, first.name, got, want)
			}
		}
	}
}

// TestFields checks the keys of INFO with only one field, and with all fields but
// one. AppendInfo writes all fields, and Has of a decoded reply has their bits.
func TestFields(t *testing.T) {
	var all wire.Fields
	for _, f := range []wire.Format{wire.FormatSource, wire.FormatGoldSource} {
		var in wire.Info
		full := wire.Info{Has: ^wire.Fields(0), Format: f, ShortAppID: 2400} // The Ship
		check(t, in.Decode(wire.AppendInfo(nil, &full)))
		all |= in.Has
	}
	if all != 1<<len(fieldKeys)-1 {
		t.Errorf("the bits of INFO are %b, and there are %d keys", all, len(fieldKeys))
	}
	for i, key := range fieldKeys {
		has := wire.Fields(1 << i)
		r := blank()
		r.HasInfo = true
		r.Info.Has = has
		if got := infoKeys(t, r); key == "" || !slices.Equal(got, []string{key}) {
			t.Errorf("only %s: keys %v", key, got)
		}
		r.Info.Has = all &^ has
		if got := infoKeys(t, r); slices.Contains(got, key) || len(got) != len(fieldKeys)-1 {
			t.Errorf("all but %s: keys %v", key, got)
		}
	}
}

func infoKeys(t *testing.T, r *scanner.Result) (keys []string) {
	t.Helper()
	record := Append(nil, "", r)
	checkRecord(t, record)
	var v struct{ Info map[string]any }
	check(t, json.Unmarshal(record, &v))
	for key := range v.Info {
		keys = append(keys, key)
	}
	return keys
}

// TestAddresses: an IPv4-mapped address becomes IPv4, and Append removes a zone,
// which could be any text.
func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"203.0.113.7":            `"ip":"203.0.113.7","port":0,"addr":"203.0.113.7:0"`,
		"::ffff:203.0.113.7":     `"ip":"203.0.113.7","port":0,"addr":"203.0.113.7:0"`,
		"2001:db8::1":            `"ip":"2001:db8::1","port":0,"addr":"[2001:db8::1]:0"`,
		"fe80::1%\"}{\x00\u2028": `"ip":"fe80::1","port":0,"addr":"[fe80::1]:0"`,
	} {
		r := blank()
		r.Addr = netip.AddrPortFrom(netip.MustParseAddr(in), 0)
		if got := string(Append(nil, "", r)); got != `{"schema":1,`+want+"}\n" {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// TestReadAddresses: other programs may write an IPv4 address as IPv6. The Reader returns the
// same address for each way to write it.
func TestReadAddresses(t *testing.T) {
	want := netip.MustParseAddrPort("203.0.113.7:5")
	for _, line := range []string{
		`{"schema":1,"ip":"203.0.113.7","port":5}`, `{"schema":1,"ip":"::ffff:203.0.113.7","port":5}`,
		`{"schema":1,"port":5,"ip":"::ffff:cb00:7107"}`, `{"schema":1,"addr":"[::ffff:203.0.113.7]:5"}`,
	} {
		if _, r, err := Read([]byte(line)); err != nil || r.Addr != want {
			t.Errorf("%s: %v, %v", line, r.Addr, err)
		}
	}
}

// TestTooLong checks which parts Append drops from a record that is too long, and
// which notes it writes for them.
func TestTooLong(t *testing.T) {
	const reply = 512 << 10
	noise := func(n int) []byte { return bytes.Repeat([]byte("\x00"), n) }
	tests := []struct {
		name  string
		make  func(r *scanner.Result)
		notes []string
	}{
		{"raw over by itself", func(r *scanner.Result) {
			r.Raw = [][]byte{noise(MaxSize)}
		}, []string{"raw.dropped"}},
		{"raw over by little", func(r *scanner.Result) {
			r.Raw = [][]byte{noise(MaxSize * 3 / 4)}
		}, []string{"raw.dropped"}},
		{"raw at its longest", func(r *scanner.Result) {
			r.Raw = [][]byte{noise((MaxSize - 4096) / 4 * 3)}
		}, nil},
		{"many datagrams", func(r *scanner.Result) {
			r.Raw = make([][]byte, MaxSize/3)
		}, []string{"raw.dropped"}},
		{"rules, said exactly by rules_raw", func(r *scanner.Result) {
			r.Rules = rulesOf("a", strings.Repeat("\xff", 4*reply))
		}, []string{"rules.dropped"}},
		{"rules, both ways", func(r *scanner.Result) {
			r.Rules = rulesOf("a", strings.Repeat("\xff", 9*reply))
		}, []string{"rules.dropped", "rules_raw.dropped"}},
		{"what a master said", func(r *scanner.Result) {
			r.Master = `{"a":"` + strings.Repeat("\x7f", 3*reply) + `"}`
		}, []string{"master.dropped"}},
		{"what a master said, over by itself", func(r *scanner.Result) {
			r.Master = `{"a":"` + strings.Repeat("a", MaxSize) + `"}`
		}, []string{"master.dropped"}},
		{"what a master said, and no object", func(r *scanner.Result) {
			r.Master = `[1]`
		}, []string{"master.dropped"}},
		{"each of them", func(r *scanner.Result) {
			r.Raw = [][]byte{noise(MaxSize / 4 * 3)}
			r.Tag, r.Message, r.Info.Map = string(noise(3*reply)), noise(3*reply), noise(3*reply)
			r.Players = []wire.Player{{Name: noise(3 * reply)}}
			r.Rules = rulesOf("a", strings.Repeat("\xff", 9*reply))
			r.Geo.City = string(noise(3 * reply))
			r.Game.Description = noise(3 * reply)
			r.Master = "{"
		}, []string{"tag.dropped", "message.dropped", "info.dropped", "players.dropped", "rules.dropped",
			"rules_raw.dropped", "game.dropped", "raw.dropped", "geo.dropped", "master.dropped"}},
	}
	var e Encoder
	var got []byte
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := full()
			r.Notes, r.Info.Notes, r.Raw = 0, 0, nil
			tt.make(r)
			got = e.Append(got[:0], "s", r)
			next := e.Append(nil, "", typical(1))
			if want := Append(nil, "", typical(1)); !bytes.Equal(next, want) {
				t.Errorf("the next record is %s, want %s", next, want)
			}
			checkRecord(t, got)
			if notes := notesOf(t, got); !slices.Equal(notes, tt.notes) {
				t.Errorf("notes %v, want %v", notes, tt.notes)
			}
		})
	}
}

// TestLongScan: Append does not shorten the name of a scan, even if it is too long.
func TestLongScan(t *testing.T) {
	scan := strings.Repeat("x", MaxSize)
	r := full()
	r.Time, r.Sent, r.Received = time.Time{}, 0, 0
	got := Append(nil, scan, r)
	if !json.Valid(got) || len(got) < MaxSize || bytes.Contains(got, []byte(`"info":{"format"`)) {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
}

func notesOf(t *testing.T, record []byte) []string {
	t.Helper()
	var v struct{ Notes []string }
	check(t, json.Unmarshal(record, &v))
	return v.Notes
}

// TestLongest tries lengths around the limit: Append drops nothing from a record of
// exactly MaxSize bytes, but drops the message if the record would be one byte
// longer.
func TestLongest(t *testing.T) {
	r := blank()
	r.Message = []byte{'x'}
	short := len(Append(nil, "", r))
	for over := -2; over <= 2; over++ {
		r.Message = bytes.Repeat([]byte{'x'}, MaxSize-short+1+over)
		got := Append(nil, "", r)
		if whole := len(got) == MaxSize+over; whole != (over <= 0) {
			t.Errorf("%d bytes over: the record has %d", over, len(got))
		}
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fieldKeys are the keys of info in the order of their bits in wire.Fields.
var fieldKeys = func() (keys [23]string) {
	fields := infoFields(new(wire.Info))
	for i := range fields {
		if f := &fields[i]; f.present != nonzero {
			keys[bits.TrailingZeros64(uint64(f.present))] = f.name
		}
	}
	return keys
}()
