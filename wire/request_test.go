package wire_test

import (
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

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
