package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
)

// Checkpoint is what has to be known of a scan to go on with it, in this
// process or another. As a file it is
//
//	a2sscan checkpoint VERSION SHA-256\n
//	a zstd frame: one line of JSON, and then the open targets
//
// The sum, in hex, is that of all bytes after the first line. A target is the
// four bytes of its address, its port, its place, its tag and what a master said
// of it, texts with their length before them, numbers as uvarints.
type Checkpoint struct {
	Program string    `json:"program"` // version of a2sscan
	Written time.Time `json:"written"`

	Scan    string    `json:"scan"`
	Start   time.Time `json:"start"`
	Resumed int       `json:"resumed"` // how often it was gone on with
	Plan    Plan      `json:"plan"`

	Place uint64 `json:"place"`          // where the list goes on
	Size  uint64 `json:"size,omitempty"` // places in the list, where that is known
	Open  uint64 `json:"open"`           // targets taken and not finished

	Stats   scanner.Stats      `json:"stats"`
	List    list.Stats         `json:"list"`               // up to Place
	LeftOut []ledger.Exclusion `json:"left_out,omitempty"` // by which rules, up to Place
	Tally   tally.Tally        `json:"tally"`
	Records uint64             `json:"records"`
	Output  OutputState        `json:"output"`

	Names map[string]HostName `json:"names,omitempty"` // with --resolve

	Silent SilentState `json:"silent,omitzero"` // those that wait for their second look

	OpenTargets []scanner.Target `json:"-"` // open targets; Open of them
}

// OutputState is how far the output was durable. With --rotate, Offset, Tail, Sum
// and Records are of the part after Parts.
type OutputState struct {
	Offset  int64  `json:"offset"`            // its length in bytes
	Tail    uint32 `json:"tail"`              // checksum of what stands before that
	Sum     string `json:"xxh64,omitempty"`   // hash of all that stands before that
	Replace bool   `json:"replace,omitempty"` // it is beside the file that it replaces

	Parts   []sink.Part `json:"parts,omitempty"` // those that were whole
	Records uint64      `json:"records,omitempty"`
}

// checkpointVersion is that of the file. It rises when an older a2sscan would
// misunderstand a newer file.
const checkpointVersion = 1

const checkpointMagic = "a2sscan checkpoint "

// Why a file can't be used as a checkpoint.
var (
	errNoCheckpoint = errors.New("is no checkpoint")
	errDamaged      = errors.New("is damaged: a part of it is missing or changed")
)

// errNewer is a checkpoint of a later version of the program.
type errNewer int

func (v errNewer) Error() string {
	return fmt.Sprintf("was written by a newer a2sscan: it has version %d, and this one knows %d",
		int(v), checkpointVersion)
}

// encode returns the file.
func (c *Checkpoint) encode() ([]byte, error) {
	c.Open = uint64(len(c.OpenTargets))
	c.Stats.Rate = 0 // the flags say it
	var targets []byte
	for i := range c.OpenTargets {
		targets = appendTarget(targets, &c.OpenTargets[i])
	}
	body, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	body = append(append(body, '\n'), targets...)
	z, err := checkpointPacker()
	if err != nil {
		return nil, err
	}
	packed := z.EncodeAll(body, nil)
	sum := sha256.Sum256(packed)
	head := fmt.Sprintf("%s%d %x\n", checkpointMagic, checkpointVersion, sum)
	return append([]byte(head), packed...), nil
}

// checkpointPacker is made once: its memory is many times that of a checkpoint.
var checkpointPacker = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
})

func appendTarget(b []byte, t *scanner.Target) []byte {
	ip := t.Addr.Addr().As4()
	b = append(b, ip[:]...)
	b = binary.AppendUvarint(b, uint64(t.Addr.Port()))
	b = binary.AppendUvarint(b, t.Place)
	b = binary.AppendUvarint(b, uint64(len(t.Tag)))
	b = append(b, t.Tag...)
	b = binary.AppendUvarint(b, uint64(len(t.Master)))
	return append(b, t.Master...)
}

// decodeCheckpoint reads the file.
func Decode(file []byte) (*Checkpoint, error) {
	head, packed, _ := bytes.Cut(file, []byte{'\n'})
	rest, ours := strings.CutPrefix(string(head), checkpointMagic)
	if !ours {
		if strings.HasPrefix(checkpointMagic, string(file)) {
			return nil, errDamaged // cut off, or never written
		}
		return nil, errNoCheckpoint
	}
	version, sum, _ := strings.Cut(rest, " ")
	v, err := strconv.Atoi(version)
	switch is := sha256.Sum256(packed); {
	case err == nil && v > checkpointVersion:
		return nil, errNewer(v)
	case err != nil || v < 1 || sum != hex.EncodeToString(is[:]):
		return nil, errDamaged
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	body, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, errDamaged
	}
	return decodeBody(body)
}

func decodeBody(body []byte) (*Checkpoint, error) {
	line, rest, _ := bytes.Cut(body, []byte{'\n'})
	c := new(Checkpoint)
	if err := json.Unmarshal(line, c); err != nil {
		return nil, fmt.Errorf("can't be understood: %w", err)
	}
	r := fieldReader{b: rest}
	for range c.Open {
		t := r.target()
		if r.bad {
			return nil, errDamaged
		}
		c.OpenTargets = append(c.OpenTargets, t)
	}
	return c, nil
}

// fieldReader reads numbers and texts, one after the other.
type fieldReader struct {
	b   []byte
	bad bool // something was missing
}

func (r *fieldReader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// target reads what appendTarget wrote.
func (r *fieldReader) target() scanner.Target {
	ip, port := r.ip(), r.number()
	t := scanner.Target{Addr: netip.AddrPortFrom(ip, uint16(port)), Place: r.number()}
	t.Tag, t.Master = r.text(), r.text()
	return t
}

func (r *fieldReader) ip() netip.Addr {
	var ip [4]byte
	copy(ip[:], r.bytes(4))
	return netip.AddrFrom4(ip)
}

func (r *fieldReader) text() string { return string(r.bytes(r.number())) }

func (r *fieldReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}
