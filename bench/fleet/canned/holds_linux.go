package canned

import (
	"bytes"
	"encoding/binary"
	"os"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/wire"
)

// Hold is how long a Fleet held a query until its reply left.
type Hold struct {
	Server   uint64 // packed address
	Question uint64 // a wire.Question
	Took     time.Duration
}

// measure makes a port measure how long it holds queries, if Config.Holds is set.
func (f *Fleet) measure(port *loopback.Port) error {
	if f.Config.Holds == "" {
		return nil
	}
	i := len(f.holds)
	f.holds = append(f.holds, nil)
	return port.Measure(func(server uint64, reply []byte, held time.Duration) {
		if q, ok := answers[wire.KindOf(reply)]; ok {
			f.holds[i] = append(f.holds[i], Hold{server, uint64(q), held})
		}
	})
}

// answers maps the kinds of answers to the questions that they answer.
var answers = map[wire.Kind]wire.Question{
	wire.KindInfo: wire.QuestionInfo, wire.KindPlayers: wire.QuestionPlayers, wire.KindRules: wire.QuestionRules,
}

// writeHolds writes the file Config.Holds.
func (f *Fleet) writeHolds() error {
	if f.Config.Holds == "" {
		return nil
	}
	var b bytes.Buffer
	for _, holds := range f.holds {
		if err := binary.Write(&b, binary.LittleEndian, holds); err != nil {
			return err
		}
	}
	return os.WriteFile(f.Config.Holds, b.Bytes(), 0o666)
}

// ReadHolds reads the file Config.Holds of a fleet that has ended.
func ReadHolds(path string) ([]Hold, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	holds := make([]Hold, len(data)/binary.Size(Hold{}))
	return holds, binary.Read(bytes.NewReader(data), binary.LittleEndian, holds)
}
