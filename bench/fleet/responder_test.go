package fleet

import (
	"net/netip"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// questioner queries one server after the other as a scan does. The benchmark and
// the allocation test share it.
type questioner struct {
	r        *responder
	client   uint64
	at       uint64
	requests []byte
}

func newQuestioner(t testing.TB, kinds ...Kind) *questioner {
	t.Helper()
	m, err := newModel(Config{
		Network: netip.MustParsePrefix("127.0.0.0/20"), Ports: []uint16{27015}, Kinds: kinds,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &questioner{r: newResponder(m, 27015), client: 0x7F000001<<16 | 4000}
}

// server sends the next server the four requests of a scan, and returns the number
// of bytes in its answers.
func (q *questioner) server() int {
	addr := q.r.m.place(q.at)
	q.at = (q.at + 1) % q.r.m.places()
	n, _ := q.r.m.nature(addr)
	c := q.r.m.challengeOf(&n, q.client, 0, challengeOnly)
	q.ask(addr, wire.AppendInfoRequest(q.requests[:0], wire.NoChallenge))
	for question := range wire.Question(wire.NumQuestions) {
		q.ask(addr, wire.AppendRequest(q.requests[:0], question, c))
	}
	bytes := len(q.r.out.Data)
	q.r.out.Reset()
	return bytes
}

func (q *questioner) ask(server uint64, request []byte) {
	q.requests = request
	q.r.Respond(0, q.client, server, request)
}

func BenchmarkRespond(b *testing.B) {
	for _, k := range []Kind{Source, Split, Packed} {
		b.Run(k.String(), func(b *testing.B) {
			q := newQuestioner(b, k)
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(int64(q.server()))
			}
			b.ReportMetric(4*float64(b.N)/b.Elapsed().Seconds(), "queries/s")
		})
	}
}

// TestRespondDoesNotAllocate queries servers of the usual kinds, after the
// responder's memory has grown to the size that the largest server needs.
func TestRespondDoesNotAllocate(t *testing.T) {
	q := newQuestioner(t)
	for range q.r.m.places() {
		q.server()
	}
	if n := testing.AllocsPerRun(2000, func() { q.server() }); n != 0 {
		t.Errorf("%v allocations for the answers of a server", n)
	}
}

// testConfig returns a small fleet of the usual kinds.
func testConfig() Config {
	return Config{Network: netip.MustParsePrefix("127.1.0.0/24"), Ports: []uint16{27015}, Seed: 1}
}
