package record_test

import (
	"fmt"
	"log"
	"net/netip"
	"os"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

func ExampleAppend() {
	result := &scanner.Result{
		Addr:             netip.MustParseAddrPort("203.0.113.7:27015"),
		Status:           scanner.StatusOK,
		HasPlayers:       true,
		Players:          []wire.Player{{Name: []byte("caf\xe9"), Score: 3, Duration: 12.5}},
		PlayersAnnounced: -1,
	}
	os.Stdout.Write(record.Append(nil, "", result))
	// Output:
	// {"schema":1,"ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"ok","players":[{"index":0,"name":"caf�","name_hex":"636166e9","score":3,"duration":12.5}]}
}

// A record becomes a Result again. The bits of Info.Has show which fields the
// record had.
func ExampleRead() {
	line := []byte(`{"schema":1,"scan":"nightly","ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"partial",` +
		`"errors":{"rules":"timeout"},"info":{"format":"source","name":"A server","map":"de_dust2","players":3}}`)
	scan, r, err := record.Read(line)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %v %v %q on %s, %d players\n", scan, r.Addr, r.Status, r.Info.Name, r.Info.Map, r.Info.Players)
	fmt.Println("rules:", r.Err[wire.QuestionRules].String(), "bots known:", r.Info.Has&wire.HasBots != 0)
	// Output:
	// nightly: 203.0.113.7:27015 partial "A server" on de_dust2, 3 players
	// rules: timeout bots known: false
}

// A Reader decodes only the keys that are asked for, and keeps others as they are
// written.
func ExampleReader() {
	lines := []string{
		`{"schema":1,"ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"ok","info":{"name":"A server","map":"de_dust2"},"rules":{"sv_gravity":"800"}}`,
		`{"status": "ok", "info": {"map": "cp_badlands"}, "port": 27016, "ip": "203.0.113.7", "schema": 1}`, // as another program wrote it
	}
	r := record.NewReader("addr", "info").Keep("rules")
	for _, line := range lines {
		rec, err := r.Read([]byte(line))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v on %s, name known: %v, rules: %s\n",
			rec.Addr, rec.Info.Map, rec.Info.Has&wire.HasName != 0, rec.Value("rules"))
	}
	// Output:
	// 203.0.113.7:27015 on de_dust2, name known: true, rules: {"sv_gravity":"800"}
	// 203.0.113.7:27016 on cp_badlands, name known: false, rules: null
}

// Locate adds what is known about an address to a record.
func ExampleRecord_Locate() {
	line := []byte(`{"schema":1,"ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"ok"}`)
	where := func(addr netip.Addr) scanner.Geo {
		return scanner.Geo{Country: "DE", ASN: 64500, Org: "Example GmbH"} // from a database
	}
	rec, err := record.NewReader().Read(line)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", rec.Locate(nil, where))
	// Output:
	// {"schema":1,"ip":"203.0.113.7","port":27015,"addr":"203.0.113.7:27015","status":"ok","geo":{"country":"DE","asn":64500,"org":"Example GmbH"}}
}
