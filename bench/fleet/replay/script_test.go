package replay

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// letters holds the datagrams of the recorded servers, by their names in the tests.
var letters = map[string][]byte{
	"A1": wire.AppendChallenge(nil, 1), "A2": wire.AppendChallenge(nil, 2),
	"A3": wire.AppendChallenge(nil, 3), "A4": wire.AppendChallenge(nil, 4),
	"A5": wire.AppendChallenge(nil, 5),
	"I":  wire.AppendInfo(nil, &wire.Info{Name: []byte("i")}),
	"m":  wire.AppendInfo(nil, &wire.Info{Format: wire.FormatGoldSource}),
	"D":  wire.AppendPlayers(nil, 1, []wire.Player{{Name: []byte("p")}}),
	"E":  wire.AppendRules(nil, 1, []wire.Rule{{Name: []byte("r"), Value: []byte("1")}}),
	"X":  wire.AppendText(nil, wire.KindLimited, []byte("slow down")),
	"l":  wire.AppendText(nil, wire.KindBanned, []byte("go away")),
	"0":  make([]byte, 64),
	"9":  {0xFF, 0xFF, 0xFF, 0xFF, '9'},
	"E1": fragmentOf(7, 0), "E2": fragmentOf(7, 1), "F1": fragmentOf(8, 0), "F2": fragmentOf(8, 1),
	"": {},
}

// fragmentOf returns the first half (number 0) or the second half (number 1) of a
// RULES reply.
func fragmentOf(id uint32, number uint8) []byte {
	msg := wire.AppendRules(nil, 1, []wire.Rule{{Name: []byte("name"), Value: []byte("value")}})
	f := wire.Fragment{Layout: wire.LayoutSource, ID: id, Total: 2, Number: number, Size: 1248}
	f.Payload = msg[:10]
	if number == 1 {
		f.Payload = msg[10:]
	}
	return wire.AppendFragment(nil, &f)
}

func lettersOf(ds [][]byte) string {
	var words []string
	for _, d := range ds {
		word := fmt.Sprintf("%x", d)
		for name, b := range letters {
			if string(b) == string(d) {
				word = name
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// scripted is a recorded server and the session that must take place when it is
// queried again. A request is i, p or r, and its challenge if it has one. The
// answer follows after an equals sign.
type scripted struct {
	name    string
	raw     string
	bare    scanner.Questions
	errs    [wire.NumQuestions]wire.Error
	sent    uint32
	session string
}

const timeout = wire.ErrTimeout

var scripts = []scripted{
	{name: "one challenge for three questions", raw: "A1 I D E",
		session: "i=A1 i1=I p1=D r1=E p=A1 r9=A1"},
	{name: "no challenge", raw: "I D E", bare: scanner.AskAll, session: "i=I p=D r=E r9=E"},
	{name: "lists only", raw: "I A1 D E", bare: scanner.AskInfo, session: "i=I p=A1 r=A1 p1=D r1=E"},
	{name: "EC-2 challenge after challenge", raw: "A1 A2 A3 I D E",
		session: "i=A1 i1=A2 i2=A3 i3=I p3=D p1=A2"},
	{name: "EC-2 no more than three", raw: "A1 A2 A3 A4 A5 I D E", session: "i=A3 i3=A4 i4=A5 i5=I"},
	{name: "EC-3 the same challenge again", raw: "A1 A1 A1 I D E", session: "i=A1 i1=I"},
	{name: "EC-13 one challenge for each", raw: "A1 I A2 D A3 E",
		session: "i=A1 i1=I p1=A2 p2=D r2=A3 r3=E i3=I"},
	{name: "a challenge loop, in its order", raw: "A1 A2 A1 A2", sent: 9,
		errs:    [3]wire.Error{wire.ErrChallengeLoop, wire.ErrChallengeLoop, wire.ErrChallengeLoop},
		session: "i=A1 i2=A2 i1=A1 p2=A2"},
	{name: "silent after the challenge", raw: "A1 I", errs: [3]wire.Error{0, timeout, timeout},
		session: "i=A1 i1=I p1= r1= p=A1"},
	{name: "EC-55 zeros first", raw: "0 I D E", bare: scanner.AskAll, session: "i=0 i=I i=0 i=I p=D"},
	{name: "never but zeros", raw: "0 0 0 0 0", sent: 5,
		errs:    [3]wire.Error{wire.ErrMalformed, wire.ErrMalformed, wire.ErrMalformed},
		session: "i=0 i=0 p= r="},
	{name: "zeros, several to an ask", raw: "0 0 0 0 0", sent: 3,
		errs: [3]wire.Error{wire.ErrMalformed, timeout, timeout}, session: "i=0 0 i=0 0 i=0 i=0 0"},
	{name: "EC-64 m, D and I to one INFO", raw: "m D I A1 E",
		bare: scanner.AskInfo | scanner.AskPlayers, session: "i=m D I p= r=A1 r1=E"},
	{name: "EC-21 too many requests", raw: "A1 X I D E", session: "i=A1 i1=X i1=I p1=D"},
	{name: "EC-22 banned", raw: "l", sent: 1,
		errs: [3]wire.Error{wire.ErrBanned, wire.ErrBanned, wire.ErrBanned}, session: "i=l p="},
	{name: "EC-23 an unknown kind for rules", raw: "A1 I D 9 9", sent: 7,
		errs: [3]wire.Error{0, 0, wire.ErrUnexpected}, session: "i1=I p1=D r1=9 r1=9"},
	{name: "EC-9 a challenge afterwards", raw: "A1 I D E A2", session: "i=A1 i1=I p1=D r1=E i2=I"},
	{name: "EC-115 fragments in their order", raw: "A1 E2 I D E1",
		session: "i1=I p1=D r1=E2 E1 r1=E2 E1"},
	{name: "half a reply, then a complete one", raw: "A1 I D E1 F2 F1",
		session: "r1=E1 r1=F2 F1 r1=E1"},
	{name: "half a reply and no more", raw: "A1 I D E1 F1", sent: 8,
		errs: [3]wire.Error{0, 0, wire.ErrIncomplete}, session: "r1=E1 r1=F1"},
	{name: "a reply twice", raw: "A1 I D E1 E2 E1 E2", session: "r1=E1 E2 E1 E2"},
	{name: "an empty datagram", raw: "A1 I D  E", session: "i1=I r1= r1=E"},
}

// TestScripts checks that recorded servers send the same datagrams again, in answer
// to the question for which they were recorded.
func TestScripts(t *testing.T) {
	for i, tt := range scripts {
		t.Run(tt.name, func(t *testing.T) {
			r := &scanner.Result{
				Addr:  netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), 27015),
				Asked: scanner.AskAll, Err: tt.errs, Sent: tt.sent, Unchallenged: tt.bare,
				Status: scanner.StatusPartial, PlayersAnnounced: -1, RulesAnnounced: -1,
			}
			for _, word := range strings.Split(tt.raw, " ") {
				r.Raw = append(r.Raw, letters[word])
			}
			r.Received = uint32(len(r.Raw))
			r.HasInfo, r.HasPlayers, r.HasRules = r.Err[0] == 0, r.Err[1] == 0, r.Err[2] == 0
			converse(t, r, tt.session)
		})
	}
}

// converse records r, queries the recorded server, and fails the test if the
// session differs.
func converse(t *testing.T, r *scanner.Result, session string) {
	t.Helper()
	rec := NewRecording()
	if err := rec.Add(record.Append(nil, "", r)); err != nil {
		t.Fatal(err)
	}
	ask := asking(t, rec)
	var got []string
	for _, word := range strings.Fields(session) {
		given, _, isAsk := strings.Cut(word, "=")
		if !isAsk {
			continue // the second datagram of an answer
		}
		q := wire.Question(strings.IndexByte("ipr", given[0]))
		c := wire.NoChallenge
		if len(given) > 1 {
			c = wire.Challenge(given[1] - '0')
		}
		got = append(got, given+"="+lettersOf(ask(0, wire.AppendRequest(nil, q, c))))
	}
	if want := session; strings.Join(got, " ") != want {
		t.Errorf("said %s\nwant %s", strings.Join(got, " "), want)
	}
}

// asking returns a function that sends a request to server i of a recording.
func asking(t *testing.T, rec *Recording) func(i int, request []byte) [][]byte {
	t.Helper()
	if err := rec.Place(netip.MustParsePrefix("127.0.0.0/8"), []uint16{27015}); err != nil {
		t.Fatal(err)
	}
	return func(i int, datagram []byte) (ds [][]byte) {
		request, err := wire.DecodeRequest(datagram)
		q, ok := fleet.QuestionOf(request.Kind)
		if err != nil || !ok {
			t.Fatalf("%X: no question, %v", datagram, err)
		}
		place, _ := rec.At(i)
		rec.Answer(udp.Pack(place), q, &request, func(d []byte) { ds = append(ds, bytes.Clone(d)) })
		return ds
	}
}

// TestRecordingRefuses checks that Add returns the right error for a server that
// can't be replayed.
func TestRecordingRefuses(t *testing.T) {
	huge := &scanner.Result{Received: 1, Raw: [][]byte{make([]byte, loopback.MaxDatagram+1)}}
	tests := []struct {
		line string
		want error
	}{
		{`{"schema":1,"notes":["rules.dropped"],"status":"partial"}`, ErrDropped},
		{`{"schema":1,"errors":{"info":"send_failed"},"status":"error"}`, ErrUnsent},
		{string(record.Append(nil, "", huge)), ErrDatagram},
		{`{"schema":1,"raw":["="]}`, nil},
		{`{}`, nil},
	}
	rec := NewRecording()
	for _, tt := range tests {
		err := rec.Add([]byte(tt.line))
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%.60s: %v", tt.line, err)
		}
	}
	if rec.Len() != 0 {
		t.Errorf("%d servers", rec.Len())
	}
}

// TestRecordedPlaces checks that servers keep the host bits of their address and
// their port, and get the next free address and port if these are taken.
func TestRecordedPlaces(t *testing.T) {
	tests := []struct {
		name, network string
		ports         []uint16
		servers       []string
		want          []string
		moved         int
	}{
		{"kept", "127.0.0.0/8", nil,
			[]string{"203.0.113.7:27015", "198.51.100.1:27016", "203.0.113.7:27016"},
			[]string{"127.0.113.7:27015", "127.51.100.1:27016", "127.0.113.7:27016"}, 0},
		{"the same end", "127.0.0.0/8", []uint16{27015},
			[]string{"1.2.3.4:27015", "5.2.3.4:27015", "6.2.3.4:27015"},
			[]string{"127.2.3.4:27015", "127.2.3.5:27015", "127.2.3.6:27015"}, 2},
		{"another port first", "127.0.0.0/8", []uint16{27015, 27020},
			[]string{"1.2.3.4:27015", "5.2.3.4:27015", "6.2.3.4:27015", "6.2.3.4:27017"},
			[]string{"127.2.3.4:27015", "127.2.3.4:27020", "127.2.3.5:27015", "127.2.3.5:27020"}, 3},
		{"a small network", "127.7.7.0/31", []uint16{27015},
			[]string{"1.2.3.5:27015", "1.2.3.7:27015"}, []string{"127.7.7.1:27015", "127.7.7.0:27015"}, 1},
		{"not the broadcast address", "127.0.0.0/8", []uint16{27015},
			[]string{"1.255.255.255:27015"}, []string{"127.0.0.0:27015"}, 1},
		{"a port of the system", "127.0.0.0/8", nil, []string{"1.2.3.4:53"}, []string{"127.2.3.4:27015"}, 1},
		{"no address", "127.0.0.0/8", nil, []string{"", ""}, []string{"127.0.0.0:27015", "127.0.0.1:27015"}, 0},
	}
	for _, tt := range tests {
		rec := NewRecording()
		for _, at := range tt.servers {
			r := &scanner.Result{Status: scanner.StatusNoReply, PlayersAnnounced: -1, RulesAnnounced: -1}
			if at != "" {
				r.Addr = netip.MustParseAddrPort(at)
			}
			if err := rec.Add(record.Append(nil, "", r)); err != nil {
				t.Fatal(err)
			}
		}
		if err := rec.Place(netip.MustParsePrefix(tt.network), tt.ports); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for i, want := range tt.want {
			if place, _ := rec.At(i); place.String() != want {
				t.Errorf("%s: %s is at %v, want %s", tt.name, tt.servers[i], place, want)
			}
		}
		if rec.Stats.Moved != tt.moved {
			t.Errorf("%s: %d moved, want %d", tt.name, rec.Stats.Moved, tt.moved)
		}
	}
}

// TestFrequentPorts checks that frequentPorts returns the most frequent ports if
// there are more than can be opened.
func TestFrequentPorts(t *testing.T) {
	rec := NewRecording()
	add := func(port, times int) {
		for range times {
			rec.servers = append(rec.servers, recorded{original: 1<<40 | uint64(port)})
		}
	}
	for port := 30000; port < 30000+2*fleet.MaxPorts; port++ {
		add(port, 1+port%2)
	}
	ports := rec.frequentPorts()
	if len(ports) != fleet.MaxPorts {
		t.Fatalf("%d ports", len(ports))
	}
	for _, p := range ports {
		if p%2 == 0 {
			t.Errorf("port %d is not frequent", p)
		}
	}
}

// TestRecordedTags checks that the list omits a tag that would break it.
func TestRecordedTags(t *testing.T) {
	for tag, want := range map[string]string{
		"": "203.0.113.7:27015", "eu 1": "203.0.113.7:27015 eu 1", "a\nb": "203.0.113.7:27015",
		"\u202e": "203.0.113.7:27015", "\xff": "203.0.113.7:27015",
	} {
		rec := NewRecording()
		r := &scanner.Result{Addr: netip.MustParseAddrPort("203.0.113.7:27015"), Tag: tag}
		r.Status = scanner.StatusNoReply
		if err := rec.Add(record.Append(nil, "", r)); err != nil {
			t.Fatal(err)
		}
		if got := rec.Tag(0); got != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
}
