// Package checkpoint saves the progress of a scan in a file, so that a later run of
// the same command can resume it.
package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
)

// Checkpoint is everything needed to resume a scan. This is its file:
//
//	a2sscan checkpoint VERSION SHA-256\n
//	a zstd frame: one line of JSON, and then the open targets
//
// The SHA-256, in hex, covers all bytes after the first line. A target is encoded
// as the four bytes of its address, then its port, place, tag and master entry.
// Numbers are uvarints; each string follows its length.
//
// A new field that describes how far the scan has come belongs here. Checkpointer
// fills it: in compose from a snapshot, or in save if the output must be durable
// first. check rejects impossible values. A resumed scan finds the field in
// Checkpointer.Past.
//
// A new setting of the command that must not change between the runs of a scan
// belongs in Plan.
type Checkpoint struct {
	Program string    `json:"program"` // version of a2sscan
	Written time.Time `json:"written"`

	Scan    string    `json:"scan"`
	Start   time.Time `json:"start"`
	Resumed int       `json:"resumed"` // how many times the scan was resumed
	Plan    Plan      `json:"plan"`

	Place uint64 `json:"place"`          // index in the list at which to resume
	Size  uint64 `json:"size,omitempty"` // number of places in the list; 0: unknown
	Open  uint64 `json:"open"`           // targets taken from the list but not finished

	Stats   scanner.Stats      `json:"stats"`
	List    list.Stats         `json:"list"`               // up to Place
	LeftOut []ledger.Exclusion `json:"left_out,omitempty"` // per source, up to Place
	Tally   ledger.Tally       `json:"tally"`
	Records uint64             `json:"records"`
	Output  OutputState        `json:"output"`

	Names map[string]HostName `json:"names,omitempty"` // answers to look-ups of host names

	Silent SilentState `json:"silent,omitzero"` // the file of targets that wait for the second pass

	Step Step `json:"step,omitempty"` // the scan is complete, and only this is left to do

	OpenTargets []scanner.Target `json:"-"` // the open targets; Open is their number
}

// Step is the environment of the program that must run after a complete scan.
type Step []string

// OutputState describes how much of the output is durable. With --rotate, Offset,
// Sum and Records describe the part after Parts.
type OutputState struct {
	Offset  int64  `json:"offset"`            // length in bytes
	Sum     string `json:"xxh64,omitempty"`   // hash of all bytes before Offset
	Replace bool   `json:"replace,omitempty"` // the output is written beside the file that it replaces

	Parts   []sink.Part `json:"parts,omitempty"` // the complete parts
	Records uint64      `json:"records,omitempty"`
}

// checkpointVersion is the version of the file format. It is raised when one of two
// versions of a2sscan would misread a file of the other: in version 1 the counts have
// another layout, and there are no steps.
const checkpointVersion = 2

const checkpointMagic = "a2sscan checkpoint "

// These errors explain why a file can't be used as a checkpoint.
var (
	errNoCheckpoint = errors.New("is not a checkpoint")
	errDamaged      = errors.New("is damaged: part of it is missing or was changed")
	errOlder        = errors.New("was written by an older a2sscan, whose counts this one can't continue: complete the scan with that version")
)

// errNewer is the error for a checkpoint that a newer a2sscan wrote. Its value is
// the version of the file.
type errNewer int

func (v errNewer) Error() string {
	return fmt.Sprintf("was written by a newer a2sscan: it has version %d, but this program only reads version %d",
		int(v), checkpointVersion)
}

// encode sets c.Open and returns the content of the checkpoint file.
func (c *Checkpoint) encode() ([]byte, error) {
	c.Open = uint64(len(c.OpenTargets))
	c.Stats.Rate = 0 // the flags set it
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

// checkpointPacker returns the encoder that all checkpoints share. It is created
// only once because it needs many times the memory of a checkpoint.
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

// Decode decodes the content of a checkpoint file.
func Decode(file []byte) (*Checkpoint, error) {
	head, packed, _ := bytes.Cut(file, []byte{'\n'})
	rest, ours := strings.CutPrefix(string(head), checkpointMagic)
	if !ours {
		if strings.HasPrefix(checkpointMagic, string(file)) {
			return nil, errDamaged // truncated, or never written
		}
		return nil, errNoCheckpoint
	}
	version, sum, _ := strings.Cut(rest, " ")
	v, err := strconv.Atoi(version)
	switch is := sha256.Sum256(packed); {
	case err == nil && v > checkpointVersion:
		return nil, errNewer(v)
	case err == nil && v == 1 && sum == hex.EncodeToString(is[:]):
		return nil, errOlder
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
		return nil, fmt.Errorf("can't be decoded: %w", err)
	}
	r := fieldReader{b: rest}
	for range c.Open {
		t := r.target()
		if r.bad {
			return nil, errDamaged
		}
		c.OpenTargets = append(c.OpenTargets, t)
	}
	return c, c.check()
}

// fieldReader decodes the fields of encoded targets one after another.
type fieldReader struct {
	b   []byte
	bad bool // a field is missing or out of range
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
	r.bad = r.bad || port > math.MaxUint16
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
