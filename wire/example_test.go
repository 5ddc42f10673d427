package wire_test

import (
	"fmt"

	"github.com/a2sscan/a2sscan/wire"
)

func ExampleInfo() {
	// A server's answer to AppendRequest.
	datagram := []byte("\xFF\xFF\xFF\xFFI\x11An example\x00cp_badlands\x00tf\x00Team Fortress\x00" +
		"\xB8\x01\x0C\x18\x00dl\x00\x018622567\x00\x80\x87\x69")

	var in wire.Info
	if err := in.Decode(datagram); err != nil {
		fmt.Println(err)
		return
	}
	app, _ := in.AppID()
	fmt.Printf("%s: %d of %d players on %s, application %d\n",
		in.Name, in.Players, in.MaxPlayers, in.Map, app)
	if in.Has&wire.HasGamePort != 0 {
		fmt.Println("play on port", in.GamePort)
	}
	// Output:
	// An example: 12 of 24 players on cp_badlands, application 440
	// play on port 27015
}

func ExamplePlayers() {
	// The example of document 000.
	datagram := []byte("\xFF\xFF\xFF\xFFD\x02" +
		"\x01[D]---->T.N.W<----\x00\x0E\x00\x00\x00\xB4\x97\x00\x44" +
		"\x02Killer !!!\x00\x05\x00\x00\x00\x69\x24\xD9\x43")

	var ps wire.Players
	if err := ps.Reset(datagram, wire.ShipNo); err != nil {
		fmt.Println(err)
		return
	}
	for ps.Next() {
		p := ps.Player()
		fmt.Printf("%s: %d points in %.0f s\n", p.Name, p.Score, p.Duration)
	}
	if err := ps.Err(); err != nil {
		fmt.Println("and more that did not fit:", err)
	}
	// Output:
	// [D]---->T.N.W<----: 14 points in 514 s
	// Killer !!!: 5 points in 434 s
}

func ExampleRules() {
	// An old game answers with a single datagram that is cut off at its end
	// (EC-92).
	datagram := []byte("\xFF\xFF\xFF\xFFE\x03\x00" +
		"sv_gravity\x00800\x00mp_timelimit\x0030\x00sv_conta")

	var rs wire.Rules
	if err := rs.Reset(datagram); err != nil {
		fmt.Println(err)
		return
	}
	for rs.Next() {
		fmt.Printf("%s = %s\n", rs.Rule().Name, rs.Rule().Value)
	}
	if err := rs.Err(); err == wire.ErrTruncated {
		fmt.Printf("%d of %d\n", rs.Count(), rs.Announced())
	}
	// Output:
	// sv_gravity = 800
	// mp_timelimit = 30
	// 2 of 3
}

func ExampleAppendRequest() {
	question := wire.AppendRequest(nil, wire.QuestionPlayers, wire.NoChallenge)
	fmt.Printf("% X\n", question)

	// The server requires a challenge.
	c, err := wire.DecodeChallenge([]byte("\xFF\xFF\xFF\xFFA\x4B\xA1\xD5\x22"))
	if err != nil {
		fmt.Println(err)
		return
	}
	question = wire.AppendRequest(question[:0], wire.QuestionPlayers, c)
	fmt.Printf("% X\n", question)
	// Output:
	// FF FF FF FF 55 FF FF FF FF
	// FF FF FF FF 55 4B A1 D5 22
}

func ExampleShowLayout() {
	datagrams := [][]byte{
		[]byte("\xFE\xFF\xFF\xFF\x56\x0A\x00\x00\x12ct\x00\x00"),
		[]byte("\xFE\xFF\xFF\xFF\x56\x0A\x00\x00\x02\xFF\xFF\xFF\xFFE\x01\x00sv_conta"),
	}
	// A single fragment shows the layout of its whole reply.
	layout, packed := wire.LayoutUnknown, false
	for _, d := range datagrams {
		if l, p := wire.ShowLayout(d); l != wire.LayoutUnknown {
			layout, packed = l, p
		}
	}
	for _, d := range datagrams {
		var f wire.Fragment
		if err := f.Decode(d, layout, packed); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %d of %d: %q\n", f.Layout, f.Number, f.Total, f.Payload)
	}
	// Output:
	// goldsource: 1 of 2: "ct\x00\x00"
	// goldsource: 0 of 2: "\xff\xff\xff\xffE\x01\x00sv_conta"
}
