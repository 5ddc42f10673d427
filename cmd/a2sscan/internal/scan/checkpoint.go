package scan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
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

// Checkpoint is everything needed to resume a scan. The format of a checkpoint file is:
//
//	a2sscan checkpoint VERSION SHA-256\n
//	a zstd frame: one line of JSON, then the open targets in the encoding of package gob
//	a skippable zstd frame, if maxRatio requires a longer file
//
// The SHA-256, in hex, covers all bytes after the first line.
//
// A new field that describes the progress of the scan belongs here: Checkpointer.compose
// fills it from a snapshot, or Checkpointer.save if the output must be durable first, and
// Checkpoint.possible rejects impossible values. A setting belongs in Plan.
type Checkpoint struct {
	Program string    `json:"program"` // version of a2sscan
	Written time.Time `json:"written"`

	Scan    string    `json:"scan"`
	Start   time.Time `json:"start"`
	Resumed int       `json:"resumed"` // how many times the scan was resumed
	Plan    Plan      `json:"plan"`

	Place uint64 `json:"place"`          // index in the list at which to resume
	Size  uint64 `json:"size,omitempty"` // number of places in the list; 0: unknown

	Stats   scanner.Stats `json:"stats"`
	List    list.Stats    `json:"list"` // counts of the list up to Place
	Tally   ledger.Tally  `json:"tally"`
	Records uint64        `json:"records"`
	Output  OutputState   `json:"output"`

	Names map[string]HostName `json:"names,omitempty"` // results of host name look-ups

	Silent SilentState `json:"silent,omitzero"` // describes the file of the targets that wait for the second pass

	// If Step is not nil, the scan is complete, and only the step must still run.
	Step Step `json:"step,omitempty"`

	OpenTargets []scanner.Target `json:"-"` // taken from the list, but not finished
}

// Step has the variables that the --on-complete program gets in its environment after a
// complete scan.
type Step []string

// OutputState describes how much of the output is durable.
type OutputState struct {
	sink.Position
	Replace bool `json:"replace,omitempty"` // the scan writes a temporary file, which replaces an existing output at the end
}

// version is the version of the file format. It must increase if an older a2sscan would
// misread a new file, or if a newer a2sscan would misread an old file: so not for a setting
// whose zero value means what the program did without it.
const version = 3

const magic = "a2sscan checkpoint "

var (
	errNoCheckpoint = errors.New("the file is not a checkpoint")
	errDamaged      = errors.New("the file is damaged, because a part is missing or was changed")
	errVersion      = errors.New("another version of a2sscan wrote the file")
	errRange        = errors.New("the file is damaged, because some numbers are impossible") // although the checksum is valid
)

// packer is the encoder that all checkpoints share, because an encoder needs many times
// the memory of a checkpoint.
var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
})

func (c *Checkpoint) encode() ([]byte, error) {
	c.Stats.Rate = 0 // each run takes its rate from its flags
	var body bytes.Buffer
	z, err := packer()
	if err == nil {
		err = json.NewEncoder(&body).Encode(c)
	}
	if err == nil {
		err = gob.NewEncoder(&body).Encode(c.OpenTargets)
	}
	if err != nil {
		return nil, err
	}
	packed := z.EncodeAll(body.Bytes(), nil)
	if rest := (body.Len()-smallBody)/maxRatio + 1 - len(packed); rest > 0 {
		packed = append(packed, "\x50\x2A\x4D\x18"...)
		packed = binary.LittleEndian.AppendUint32(packed, uint32(rest))
		packed = append(packed, make([]byte, rest)...)
	}
	head := fmt.Sprintf("%s%d %x\n", magic, version, sha256.Sum256(packed))
	return append([]byte(head), packed...), nil
}

// maxCheckpoint is the maximum length of a checkpoint file in bytes. A large file consists
// mostly of open targets. By default there are at most 262,144 open targets, and each takes
// a few hundred bytes if it has a tag.
const maxCheckpoint = 256 << 20

// The unpacked length of a checkpoint is at most maxRatio times the packed length, plus
// smallBody bytes; usually it is at most 10 times the packed length. Without a limit, a file
// of some kilobytes could fill the memory.
const maxRatio, smallBody = 32, 256 << 10

// DecodeCheckpoint decodes the content of a checkpoint file.
func DecodeCheckpoint(file []byte) (*Checkpoint, error) {
	head, packed, _ := bytes.Cut(file, []byte{'\n'})
	rest, ours := strings.CutPrefix(string(head), magic)
	if !ours {
		if strings.HasPrefix(magic, string(file)) {
			return nil, errDamaged // truncated, or never written
		}
		return nil, errNoCheckpoint
	}
	number, sum, _ := strings.Cut(rest, " ")
	v, err := strconv.Atoi(number)
	intact := sum == fmt.Sprintf("%x", sha256.Sum256(packed))
	switch {
	case err == nil && v > version, v > 0 && v < version && intact:
		return nil, fmt.Errorf("%w in version %d of the format, but this program reads only version %d", errVersion, v, version)
	case err != nil || v != version || !intact:
		return nil, errDamaged
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(smallBody+maxRatio*len(packed))))
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
	line, targets, _ := bytes.Cut(body, []byte{'\n'})
	c := new(Checkpoint)
	if err := json.Unmarshal(line, c); err != nil {
		return nil, fmt.Errorf("the file can't be decoded: %w", err)
	}
	if gob.NewDecoder(bytes.NewReader(targets)).Decode(&c.OpenTargets) != nil {
		return nil, errDamaged
	}
	if !c.possible() {
		return nil, errRange
	}
	return c, nil
}

// possible reports whether a scan can have written the numbers in c. With a wrong Place, a
// resumed scan would query targets twice or never.
func (c *Checkpoint) possible() bool {
	for _, t := range c.OpenTargets {
		if !isTarget(&t) || t.Place >= c.Place {
			return false
		}
	}
	// The list has yielded or left out every entry before Place. Every target that the
	// list yielded is finished, open or silent, or the scan has left it out.
	l, s, silent := &c.List, &c.Stats, &c.Silent
	skipped := s.Unscannable + s.Excluded + s.Duplicate + s.OverLimit
	given := s.TargetsFinished() + skipped + uint64(len(c.OpenTargets)) + uint64(max(0, silent.Waiting()))
	placed := c.Place == l.Given+l.Unscannable+l.Excluded+l.OtherShard && l.Given == given && (c.Size == 0 || c.Place <= c.Size)

	records := s.TargetsFinished()
	if !c.Plan.Unanswered {
		records -= s.Finished[scanner.StatusNoReply] + s.Finished[scanner.StatusUnreachable]
	}
	o := &c.Output
	written := o.Records
	if !c.Plan.Parts {
		written = c.Records
	}
	header := c.Plan.Columns != "" && written == 0 && o.Offset > 0 && o.Sum != "" // the file has a header, but no row yet
	counted := (header || hasRecords(o.Offset, written, o.Sum)) && (c.Plan.Parts || len(o.Parts) == 0)
	for i := range o.Parts {
		p := &o.Parts[i]
		counted = counted && hasRecords(p.Bytes, p.Records, p.Sum)
		written += p.Records
	}
	return c.Scan != "" && !c.Start.IsZero() && c.Resumed >= 0 && placed &&
		counted && written == c.Records && c.Records == records &&
		silent.Bytes >= 0 && 0 <= silent.SecondPassed && silent.SecondPassed <= silent.Targets && int64(silent.Targets) <= silent.Bytes/8
}

func isTarget(t *scanner.Target) bool { return t.Addr.Addr().Is4() && t.Addr.Port() != 0 }

// hasRecords reports whether a file with this number of bytes can have this number of
// records. Only an empty file has no records, and only an empty file may lack a hash.
func hasRecords(bytes int64, records uint64, sum string) bool {
	return bytes >= 0 && (bytes > 0) == (records > 0) && (bytes == 0 || sum != "")
}
