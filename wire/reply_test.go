package wire_test

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

func TestDecodeChallenge(t *testing.T) {
	for _, test := range []struct {
		name, msg string
		want      wire.Challenge
		err       error
	}{
		{"document 000", single + "A\x4B\xA1\xD5\x22", 584425803, nil},
		{"EC-10 zero", single + "A\x00\x00\x00\x00", 0, nil},
		{"minus one", single + "A\xFF\xFF\xFF\xFF", wire.NoChallenge, nil},
		{"EC-8 no bytes", single + "A", 0, wire.ErrMalformed},
		{"EC-8 three bytes", single + "A\x01\x02\x03", 0, wire.ErrMalformed},
		{"EC-19 a text", single + "A00000000 1234567 2\n", 0, wire.ErrMalformed},
		{"EC-19 a text without a line end", single + "A00000000 1", 0, wire.ErrMalformed},
		{"EC-138 five bytes", single + "A\x01\x02\x03\x04\x00", 0x04030201, nil},
		{"EC-138 59 bytes", single + "A0000" + strings.Repeat("0", 50), 0x30303030, nil},
		{"another kind", single + "I\x01\x02\x03\x04", 0, wire.ErrMalformed},
		{"no kind", single, 0, wire.ErrMalformed},
		{"nothing", "", 0, wire.ErrMalformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := wire.DecodeChallenge([]byte(test.msg))
			if got != test.want || err != test.err {
				t.Errorf("%#x, %v, want %#x, %v", got, err, test.want, test.err)
			}
		})
	}
}

func TestDecodeText(t *testing.T) {
	for _, test := range []struct {
		name, msg, want string
		err             error
	}{
		{"EC-73 GoldSource", single + "j\x00", "", nil},
		{"EC-73 Source", single + "j00000000000000\x00", "00000000000000", nil},
		{"EC-73 eight NULs", single + "j\x00\x00\x00\x00\x00\x00\x00\x00", "", nil},
		{"EC-73 nothing", single + "j", "", nil},
		{"no NUL", single + "jab", "ab", nil},
		{"another kind", single + "i\x00", "", wire.ErrUnexpected},
		{"EC-21", single + "XToo many requests\x00", "Too many requests", nil},
		{"EC-22", single + "lYou have been banned", "You have been banned", nil},
		{"EC-22 with a line end",
			single + "lYou have been banned.\n\x00\x00", "You have been banned.\n", nil},
		{"empty", single + "l", "", nil},
		{"EC-140", single + "9ConnectRedirectAddress:192.0.2.7:27015\x00", "ConnectRedirectAddress:192.0.2.7:27015", nil},
		{"EC-23", single + "9text\x00", "", wire.ErrUnexpected},
		{"no kind", single, "", wire.ErrMalformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := wire.DecodeText([]byte(test.msg))
			if string(got) != test.want || err != test.err {
				t.Errorf("%q, %v, want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}

const infoRequest = single + "TSource Engine Query\x00"

// TestDecodeRequest has what testdata/vectors.json lacks: unusual and wrong requests.
func TestDecodeRequest(t *testing.T) {
	const none = wire.NoChallenge
	for _, test := range []struct {
		name, datagram string
		want           wire.Request
		err            error
	}{
		{"info, minus one", infoRequest + "\xFF\xFF\xFF\xFF",
			wire.Request{Kind: wire.KindInfoRequest, Challenge: none}, nil},
		{"EC-10 players, zero", single + "U\x00\x00\x00\x00",
			wire.Request{Kind: wire.KindPlayersRequest, Challenge: 0, HasChallenge: true}, nil},

		{"EC-16 info, 24 bytes", infoRequest[:24], wire.Request{}, wire.ErrMalformed},
		{"EC-16 info, 26 bytes", infoRequest + "\x00", wire.Request{}, wire.ErrMalformed},
		{"EC-16 info, 30 bytes",
			infoRequest + "\x00\x00\x00\x00\x00", wire.Request{}, wire.ErrMalformed},
		{"EC-16 players, 5 bytes", single + "U", wire.Request{}, wire.ErrMalformed},
		{"EC-16 players, 10 bytes",
			single + "U\xFF\xFF\xFF\xFF\x00", wire.Request{}, wire.ErrMalformed},
		{"EC-16 ping, 6 bytes", single + "i\x00", wire.Request{}, wire.ErrMalformed},
		{"another text",
			single + "TSource Engine query\x00", wire.Request{}, wire.ErrMalformed},
		{"EC-62 another dialect", single + "FLSQ", wire.Request{}, wire.ErrUnexpected},
		{"a reply", single + "I\x11", wire.Request{}, wire.ErrUnexpected},
		{"a fragment",
			split + "TSource Engine Query\x00", wire.Request{}, wire.ErrMalformed},
		{"only a header", single, wire.Request{}, wire.ErrMalformed},
		{"nothing", "", wire.Request{}, wire.ErrMalformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := wire.DecodeRequest([]byte(test.datagram))
			if got != test.want || err != test.err {
				t.Errorf("%+v, %v, want %+v, %v", got, err, test.want, test.err)
			}
		})
	}
}
