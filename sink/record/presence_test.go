package record

import (
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// TestPresence: a record has a key only if the Result has what the row names. An object
// in which every value is absent is absent, too.
func TestPresence(t *testing.T) {
	captured := scanner.Result{Received: 1}
	scanned := scanner.Result{Received: 1, Sent: 1, Time: time.Unix(1, 0)}
	odd := scanned
	odd.Err[0], odd.RTTs[0], odd.Geo.Country = 200, -time.Second, "x"
	some := scanned
	some.Err[0], some.RTTs[0], some.Geo.ASN = wire.ErrTimeout, time.Second, 7
	for _, test := range []struct {
		result    *scanner.Result
		has, lack string
	}{
		{&captured, "schema received", "took_ms sent sent_bytes errors rtts_ms geo info ping"},
		{&scanned, "schema received took_ms sent sent_bytes", "errors rtts_ms hashes geo players rules game"},
		{&odd, "schema", "errors rtts_ms geo"},
		{&some, "errors rtts_ms geo", "hashes"},
		{&scanner.Result{HasInfo: true, HasPing: true, HasPlayers: true, HasRules: true, PlayersAnnounced: -1}, "info ping players rules payload", "format protocol players_announced"},
		{&scanner.Result{HasInfo: true, Info: wire.Info{Has: wire.HasProtocol | wire.HasShip}}, "protocol ship mode", "name"},
		{&scanner.Result{HasInfo: true, Info: wire.Info{Has: ^(wire.HasName<<1 - 1)}}, "folder mod", "protocol ping hashes geo rules"},
	} {
		line := string(Append(nil, "", test.result))
		for _, key := range strings.Fields(test.has) {
			if !strings.Contains(line, `"`+key+`":`) {
				t.Errorf("no %s in %s", key, line)
			}
		}
		for _, key := range strings.Fields(test.lack) {
			if strings.Contains(line, `"`+key+`":`) {
				t.Errorf("%s is in %s", key, line)
			}
		}
	}
}
