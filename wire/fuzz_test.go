package wire_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// The fuzz tests check that encoding a decoded message and decoding the result
// gives the same values. If a message does not decode, the decoder must not panic,
// and the fields that it read completely must lie inside the message.

// addVectors seeds a fuzzer with the datagrams of the project's test vectors.
func addVectors(f *testing.F, add func(datagram []byte)) {
	f.Helper()
	for _, v := range loadVectors(f) {
		for _, d := range v.datagrams(f) {
			add(d)
		}
	}
}

func FuzzInfo(f *testing.F) {
	addVectors(f, func(b []byte) { f.Add(b) })
	f.Add([]byte(goldInfo + "\x01\x00\x01\x03"))
	f.Add([]byte(sourceInfo + "\x42\x8C\x69tv\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second wire.Info
		if err := first.Decode(b); err != nil {
			if first.Has&wire.HasName == 0 && first.Name != nil {
				t.Errorf("a name %q that is not there", first.Name)
			}
			return
		}
		again := wire.AppendInfo(nil, &first)
		if err := second.Decode(again); err != nil {
			t.Fatalf("%v of %x", err, again)
		}
		first.Notes &^= wire.NoteInfoTrailing
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%+v, then %+v", first, second)
		}
	})
}

func FuzzPlayers(f *testing.F) {
	addVectors(f, func(b []byte) {
		for ship := wire.ShipUnknown; ship <= wire.ShipYes; ship++ {
			f.Add(b, uint8(ship))
		}
	})
	f.Add([]byte(players(8, records(4)+record("ab")+records(2))), uint8(wire.ShipYes))
	f.Add([]byte(players(44, records(300))), uint8(wire.ShipNo))
	f.Fuzz(func(t *testing.T, b []byte, hint uint8) {
		ship := wire.ShipHint(hint % 3)
		first := readPlayers(b, ship)
		if len(first.all)*10 > len(b) {
			t.Fatalf("%d players in %d bytes", len(first.all), len(b))
		}
		if first.err != nil {
			return
		}
		again := wire.AppendPlayers(nil, first.announced, first.all)
		second := readPlayers(again, ship)
		first.notes &^= wire.NotePlayersTrailing
		if second.err != nil || second.announced != first.announced || second.notes != first.notes {
			t.Errorf("%+v, then %+v", first, second)
		}
		diffPlayers(t, second.all, first.all)
	})
}

func FuzzRules(f *testing.F) {
	addVectors(f, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		first := readRules(b)
		if len(first.all)*2 > len(b) {
			t.Fatalf("%d rules in %d bytes", len(first.all), len(b))
		}
		if first.err != nil {
			return
		}
		again := wire.AppendRules(nil, first.announced, first.all)
		if !bytes.Equal(wire.Body(again), wire.Body(b)) {
			t.Errorf("encoded %x from %x", again, b)
		}
		second := readRules(again)
		if second.err != nil || second.announced != first.announced || second.notes != first.notes {
			t.Errorf("%+v, then %+v", first, second)
		}
		diffRules(t, second.all, first.all)
	})
}

func FuzzRequest(f *testing.F) {
	addVectors(f, func(b []byte) { f.Add(b) })
	f.Add([]byte(infoRequest + single))
	f.Fuzz(func(t *testing.T, b []byte) {
		first, err := wire.DecodeRequest(b)
		if err != nil {
			return
		}
		again := appendRequest(nil, first)
		second, err := wire.DecodeRequest(again)
		if err != nil || second != first {
			t.Errorf("%+v, then %+v, %v", first, second, err)
		}
		askInfo := first.Kind == wire.KindInfoRequest && first.Challenge == wire.NoChallenge
		if !askInfo && !bytes.Equal(again, b) {
			t.Errorf("encoded %x from %x", again, b)
		}
	})
}

func FuzzFragment(f *testing.F) {
	addVectors(f, func(b []byte) {
		for l := wire.LayoutUnknown; l <= wire.LayoutSourceNoSize; l++ {
			f.Add(b, uint8(l), false)
			f.Add(b, uint8(l), true)
		}
	})
	f.Fuzz(func(t *testing.T, b []byte, layout uint8, packed bool) {
		var frag wire.Fragment
		if l, p := wire.ShowLayout(b); l != wire.LayoutUnknown {
			if err := frag.Decode(b, l, p); err != nil || frag.Number != 0 || frag.Compressed != p {
				t.Errorf("%v, %v shown in %x: %+v, %v", l, p, b, frag, err)
			}
		}
		if err := frag.Decode(b, wire.Layout(layout), packed); err != nil {
			if !sameFragment(frag, wire.Fragment{}) {
				t.Errorf("%v and %+v", err, frag)
			}
			return
		}
		if id, err := wire.SplitID(b); err != nil || id != frag.ID {
			t.Errorf("ID %#x, %v of %+v", id, err, frag)
		}
		if again := wire.AppendFragment(nil, &frag); !bytes.Equal(again, b) {
			t.Errorf("encoded %x from %x", again, b)
		}
	})
}

func FuzzText(f *testing.F) {
	addVectors(f, func(b []byte) { f.Add(b) })
	f.Add([]byte(single + "XToo many requests\x00"))
	f.Add([]byte(single + "lbanned"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := wire.DecodeChallenge(b); err == nil {
			again, err := wire.DecodeChallenge(wire.AppendChallenge(nil, c))
			if again != c || err != nil {
				t.Errorf("%#x, then %#x, %v", c, again, err)
			}
		}
		if s, err := wire.DecodeText(b); err == nil {
			again, err := wire.DecodeText(wire.AppendText(nil, wire.KindOf(b), s))
			if !bytes.Equal(again, s) || err != nil {
				t.Errorf("%q, then %q, %v", s, again, err)
			}
		}
	})
}
