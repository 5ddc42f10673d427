package wire_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

func TestShowLayout(t *testing.T) {
	const none, gold = wire.LayoutUnknown, wire.LayoutGoldSource
	const source, noSize = wire.LayoutSource, wire.LayoutSourceNoSize
	const id = split + "\x07\x00\x00\x00"
	const packedID = split + "\x97\x28\x00\x80"
	const bzip = "\xBB\x06\x00\x00\x27\xCF\x8E\x92BZh"
	for _, test := range []struct {
		name, datagram string
		want           wire.Layout
		packed         bool
	}{
		{"document 000 GoldSource", id + "\x02" + single + "E\x5D\x00", gold, false},
		{"EC-109 GoldSource, one fragment",
			id + "\x01" + single + "E\x5D\x00", gold, false},
		{"GoldSource, fifteen", id + "\x0F" + single + "D", gold, false},
		{"EC-110 Source", id + "\x02\x00\xE0\x04" + single + "E\x5D\x00", source, false},
		{"EC-109 Source, one fragment",
			id + "\x01\x00\xE0\x04" + single + "E", source, false},
		{"EC-51 a split INFO", id + "\x02\x00\xE0\x04" + single + "I\x11", source, false},
		{"EC-112 no size", id + "\x02\x00" + single + "E\x5D\x00", noSize, false},
		{"EC-114 GoldSource", id + "\x02" + single + single + "E", gold, false},
		{"EC-114 Source", id + "\x02\x00\xE0\x04" + single + single + "E", source, false},
		{"EC-114 no size", id + "\x02\x00" + single + single + "E", noSize, false},
		{"a size of FF FF", id + "\x02\x00\xFF\xFF" + single + "E", source, false},
		{"a size of FF FF and two headers",
			id + "\x02\x00\xFF\xFF" + single + single + "E", source, false},
		{"EC-113 GoldSource", id + "\x02E\x5D\x00mp_", gold, false},
		{"EC-113 Source", id + "\x02\x00\xE0\x04E\x5D\x00mp_", source, false},
		{"EC-113 no size", id + "\x02\x00E\x5D\x00mp_", noSize, false},
		{"EC-113 no size, a name that begins with a type byte",
			id + "\x02\x00I\x11Epsilon", noSize, false},
		{"EC-113 Source, a size that begins with a type byte",
			id + "\x02\x00E\x00E" + string(make([]byte, 0x44)), source, false},
		{"an unknown type, GoldSource", id + "\x02" + single + "?", gold, false},
		{"an unknown type, Source", id + "\x02\x00\xE0\x04" + single + "?", source, false},
		{"an unknown type, Source, a size that begins with a type byte",
			id + "\x02\x00E\x04" + single + "?", source, false},
		{"an unknown type, no size", id + "\x02\x00" + single + "?", noSize, false},
		{"an unknown type, no size, six FF",
			id + "\x02\x00" + single + "\xFF\xFF?", noSize, false},

		{"EC-108", split + "\x97\x28\x00\x80\x01\x00" + bzip, noSize, true},
		{"EC-108 with a size", packedID + "\x01\x00\xE0\x04" + bzip, source, true},
		{"EC-108 the first of three", packedID + "\x03\x00\xE0\x04" + bzip, source, true},
		{"EC-108 a later one", packedID + "\x03\x01\xE0\x04" + bzip, none, false},
		{"bit 31 is not set", id + "\x01\x00" + bzip, none, false},
		{"bit 31 without bzip2",
			packedID + "\x01\x00\xE0\x04" + single + "E\x00\x00", source, false},
		{"bit 31 and a rule called BZh",
			packedID + "\x02\x00\xE0\x04" + single + "E\x01\x00\x00BZh", source, false},
		{"EC-117 bit 15",
			split + "\xFF\x84\x00\x00\x02\x00\xE0\x04" + single + "E", source, false},
		{"EC-117 bit 15 and bzip2", split + "\xFF\x84\x00\x00\x01\x00" + bzip, none, false},
		{"EC-122 GoldSource is never packed", packedID + "\x01" + bzip, none, false},
		{"EC-122 GoldSource with bit 31",
			packedID + "\x02" + single + "E\x5D\x00BZh", gold, false},

		{"a later one, GoldSource", id + "\x12ct\x00\x00sv_friction", none, false},
		{"a later one, GoldSource, with FF FF FF FF",
			id + "\x12" + single + "E", none, false},
		{"a later one, GoldSource, like no size",
			id + "\x12\x00mp_timelimit\x00", none, false},
		{"a later one, GoldSource, like Source",
			id + "\x12\x00abmp_timelimit\x00", none, false},
		{"a later one, GoldSource, with a score of -1",
			id + "\x12\x00" + single + "\x00\x00\x80\x3F", none, false},
		{"a later one, Source", id + "\x02\x01\xE0\x04" + single + "E", none, false},
		{"a later one, no size", id + "\x02\x01" + single + "E", none, false},
		{"no size, 18 fragments", id + "\x12\x00" + single + "E", noSize, false},
		{"Source, 18 fragments", id + "\x12\x00\xE0\x04" + single + "E", source, false},
		{"EC-113 Source, 17 fragments", id + "\x11\x00\xE0\x04E\x5D\x00", source, false},
		{"EC-120 a total of 0, GoldSource", id + "\x00" + single + "E", none, false},
		{"EC-120 a total of 0, Source",
			id + "\x00\x00\xE0\x04" + single + "E", none, false},
		{"EC-120 a total of 0, no size", id + "\x00\x00" + single + "E", none, false},
		{"nothing after the header", id + "\x02\x00\xE0\x04", none, false},
		{"EC-116 half a header", id, none, false},
		{"no fragment", single + "\x07\x00\x00\x00\x02" + single + "E", none, false},
		{"nothing", "", none, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, packed := wire.ShowLayout([]byte(test.datagram))
			if got != test.want || packed != test.packed {
				t.Errorf("%v, %v, want %v, %v", got, packed, test.want, test.packed)
			}
		})
	}
}

func TestFragmentDecode(t *testing.T) {
	const gold, source, noSize = wire.LayoutGoldSource, wire.LayoutSource, wire.LayoutSourceNoSize
	for _, test := range []struct {
		name, datagram string
		layout         wire.Layout
		packed         bool
		want           wire.Fragment
		err            error
	}{
		{"EC-118 number high, total low", "feffffff560a00001263740000", gold, false,
			wire.Fragment{Layout: gold, ID: 0xA56, Total: 2, Number: 1, Payload: []byte("ct\x00\x00")}, nil},
		{"EC-118 empty", "feffffff560a000012", gold, false,
			wire.Fragment{Layout: gold, ID: 0xA56, Total: 2, Number: 1}, nil},
		{"EC-122 never packed", "feffffff560a00800161", gold, true,
			wire.Fragment{Layout: gold, ID: 0x80000A56, Total: 1, Payload: []byte("a")}, nil},
		{"EC-110 a smaller size", "feffffff0700000005" + "04a40461", source, false,
			wire.Fragment{Layout: source, ID: 7, Total: 5, Number: 4, Size: 0x4A4, Payload: []byte("a")}, nil},
		{"EC-112 no size", "feffffff07000000050461", noSize, false,
			wire.Fragment{Layout: noSize, ID: 7, Total: 5, Number: 4, Payload: []byte("a")}, nil},
		{"EC-108", "feffffff972800800100bb06000027cf8e92425a68", noSize, true,
			wire.Fragment{Layout: noSize, Compressed: true, ID: 0x80002897, Total: 1, DeclaredSize: 1723,
				CRC: 0x928ECF27, Payload: []byte("BZh")}, nil},
		{"EC-108 a later one", "feffffff9728008002010102", noSize, true,
			wire.Fragment{Layout: noSize, Compressed: true, ID: 0x80002897, Total: 2, Number: 1,
				Payload: []byte{1, 2}}, nil},
		{"EC-121 an absurd size", "feffffff972800800100e004ffffffff27cf8e92", source, true,
			wire.Fragment{Layout: source, Compressed: true, ID: 0x80002897, Total: 1, Size: 0x4E0,
				DeclaredSize: 0xFFFFFFFF, CRC: 0x928ECF27}, nil},
		{"255 fragments", "feffffff07000000fffe", noSize, false,
			wire.Fragment{Layout: noSize, ID: 7, Total: 255, Number: 254}, nil},

		{"EC-120 total 0, GoldSource",
			"feffffff0700000000", gold, false, wire.Fragment{}, wire.ErrMalformed},
		{"EC-120 total 0, Source",
			"feffffff070000000000e004", source, false, wire.Fragment{}, wire.ErrMalformed},
		{"EC-120 number = total, GoldSource",
			"feffffff0700000022", gold, false, wire.Fragment{}, wire.ErrMalformed},
		{"EC-120 number > total, no size",
			"feffffff070000000203", noSize, false, wire.Fragment{}, wire.ErrMalformed},
		{"EC-116 half a header, Source",
			"feffffff070000000200e0", source, false, wire.Fragment{}, wire.ErrMalformed},
		{"EC-116 half a header, no size",
			"feffffff0700000002", noSize, false, wire.Fragment{}, wire.ErrMalformed},
		{"half a packed header",
			"feffffff972800800100bb06000027cf8e", noSize, true, wire.Fragment{}, wire.ErrMalformed},
		{"no layout",
			"feffffff0700000002ffffffff45", wire.LayoutUnknown, false, wire.Fragment{}, wire.ErrMalformed},
		{"no such layout",
			"feffffff0700000002ffffffff45", 9, false, wire.Fragment{}, wire.ErrMalformed},
		{"no fragment",
			"ffffffff0700000002ffffffff45", gold, false, wire.Fragment{}, wire.ErrMalformed},
		{"nothing", "", gold, false, wire.Fragment{}, wire.ErrMalformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := unhex(t, []string{test.datagram})[0]
			got := wire.Fragment{Total: 99, Payload: []byte("old")}
			err := got.Decode(b, test.layout, test.packed)
			if err != test.err || !sameFragment(got, test.want) {
				t.Errorf("%+v, %v, want %+v, %v", got, err, test.want, test.err)
			}
			if again := wire.AppendFragment(nil, &test.want); err == nil && !bytes.Equal(again, b) {
				t.Errorf("encoded %x, want %x", again, b)
			}
		})
	}
}

// sameFragment reports whether two fragments are equal; it compares payloads by
// content.
func sameFragment(a, b wire.Fragment) bool {
	if !bytes.Equal(a.Payload, b.Payload) {
		return false
	}
	a.Payload, b.Payload = nil, nil
	return reflect.DeepEqual(a, b)
}
