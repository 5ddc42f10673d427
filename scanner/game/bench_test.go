package game

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// load is a named reply that the benchmark and several tests decode.
type load struct {
	name string
	in   Reply
}

// loads returns the first vector of each game, a reply of an unknown game, and two
// large replies.
func loads() (all []load) {
	for _, t := range tables {
		all = append(all, load{t.id, vectorsOf(t)[0].reply(t)})
	}
	unknown := server(1, 10, 20)
	return append(all,
		load{"unknown", unknown},
		load{"cs16/100rules", cvarReply(100)},
		load{"arma3/80mods", armaReply(80)},
	)
}

// cvarReply returns the reply of a Counter-Strike 1.6 server with many console
// variables. Only one of them, sv_password, has a field.
func cvarReply(rules int) Reply {
	in := server(appCS16, 20, 32)
	for i := range rules {
		in = in.rule(fmt.Sprintf("mp_variable_%d", i), "1")
	}
	return in.rule("mp_timelimit", "30").rule("mp_friendlyfire", "0").rule("sv_password", "0").
		rule("amx_nextmap", "de_dust2").rule("metamod_version", "1.21").rule("sv_gravity", "800")
}

// armaReply returns the reply of an Arma 3 server with the given number of mods, in pages
// of 127 bytes as the game sends them.
func armaReply(mods int) Reply {
	plain := []byte{3, 0, 0x13, 0, 0x5b, 1}
	plain = append(plain, bytes.Repeat([]byte{1, 2, 3, 4}, 3)...)
	plain = append(plain, byte(mods))
	for i := range mods {
		name := fmt.Sprintf("Our mod number %d, with a name", i)
		plain = append(plain, byte(i), 1, 0xFF, 0, 4, byte(i), 0xE4, 0xDE, 0x1A, byte(len(name)))
		plain = append(plain, name...)
	}
	plain = append(plain, 2, 2, 'a', '3', 4, 'k', 'e', 'y', 's')
	in := server(107410, 40, 64).keywords("bt,r218,n152405,s7,i1,mf,lf,vt,dt,tcoop,g65545,h1234abcd,f0,c12--34,pw,e15,")
	return in.withPages(escape(plain))
}

// withPages adds rules that are pages of up to 127 bytes of b, which is already
// escaped.
func (in Reply) withPages(b []byte) Reply {
	const page = 127
	total := (len(b) + page - 1) / page
	for i := range total {
		part := b[i*page : min(len(b), (i+1)*page)]
		in.Rules = append(in.Rules, wire.Rule{Name: []byte{byte(i + 1), byte(total)}, Value: part})
	}
	return in
}

// escape encodes plain with the escapes of binary pages.
func escape(plain []byte) (b []byte) {
	for _, c := range plain {
		switch c {
		case 0:
			b = append(b, 1, 2)
		case 1:
			b = append(b, 1, 1)
		case 0xFF:
			b = append(b, 1, 3)
		default:
			b = append(b, c)
		}
	}
	return b
}

// step decodes a reply and looks for flags, for the benchmark and for the tests of
// allocations and time.
func step(g *Game, in *Reply) Flags {
	Decode(g, *in)
	return Suspect(*in, g, Facts{InfoRequests: 1, InfoReplies: 1})
}

func BenchmarkDecode(b *testing.B) {
	for _, l := range loads() {
		b.Run(l.name, func(b *testing.B) {
			var g Game
			b.ReportAllocs()
			for b.Loop() {
				step(&g, &l.in)
			}
		})
	}
}

// TestAllocations checks that Decode and Suspect allocate nothing when a Game
// decodes a reply again.
func TestAllocations(t *testing.T) {
	for _, l := range loads() {
		var g Game
		step(&g, &l.in)
		if n := testing.AllocsPerRun(100, func() { step(&g, &l.in) }); n != 0 {
			t.Errorf("%s: %v allocations", l.name, n)
		}
	}
}
