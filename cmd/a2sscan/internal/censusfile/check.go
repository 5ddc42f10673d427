package censusfile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// maxProblems is the maximum number of problems that Check describes.
const maxProblems = 20

// Check reads the files of a census to their end, and describes the files and the problems,
// of which the last may be the number of further ones. It compares each record with the
// schema, and the files with the summaries in want, and finds IPv4 addresses with several
// records in one scan, for which it stores 8 bytes per record. It calls progress, if that is
// not nil, with the number of bytes read and the size of all files.
func Check(files []string, want []*census.Summary, progress func(read, size int64)) ([]census.Reading, []string, error) {
	debug.SetGCPercent(SpareMemory)
	v := &verifier{scans: map[string]*scanCount{}, progress: progress}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			v.size += info.Size()
		}
	}
	for _, name := range files {
		if err := v.file(name); err != nil {
			return nil, nil, err
		}
	}
	described := slices.DeleteFunc(slices.Clone(want), func(s *census.Summary) bool { return s.Division == nil && s.Sum == "" })
	v.problems = append(v.problems, census.Lost(v.files, described, true)...)
	v.addRepeated()
	v.compareCounts(want)
	if n := len(v.problems); n > maxProblems {
		v.problems = append(v.problems[:maxProblems], console.Plural(n-maxProblems, "more problem"))
	}
	return v.files, v.problems, nil
}

type verifier struct {
	files    []census.Reading
	problems []string
	scans    map[string]*scanCount

	part census.Reading // the file that is being read
	sum  *xxhash.Digest

	progress   func(read, size int64)
	read, size int64
}

// scanCount counts the records of a scan.
type scanCount struct {
	records  uint64
	byStatus map[string]uint64 // nil if a summary does not count them
	known    []uint64          // checked.known of each record with an IPv4 address
}

func (v *verifier) add(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// Write takes the bytes of a file as they are read.
func (v *verifier) Write(p []byte) (int, error) {
	v.part.Bytes += int64(len(p))
	v.read += int64(len(p))
	if v.progress != nil {
		v.progress(v.read, v.size)
	}
	return v.sum.Write(p)
}

func (v *verifier) file(name string) error {
	v.part, v.sum = census.Reading{Part: sink.Part{Name: name}}, xxhash.New()
	r, err := sink.OpenTee(name, v)
	if err != nil {
		return err
	}
	defer r.Close()
	if name == "-" {
		v.part.Name = "standard input"
	}
	err = sink.Pipe(r, checker, func(b *sink.Block, found []checked) error {
		for i, one := range found {
			if one.problem != nil {
				v.add("%s: record %d: %v", v.part.Name, b.First+i, one.problem)
			} else {
				v.count(&one)
			}
		}
		v.part.Records += uint64(len(found))
		return nil
	})
	if err != nil {
		return err
	}
	v.part.Damage = r.Damage()
	v.part.Damage.Flushed = false // the census must end with a complete frame
	v.part.Sum = fmt.Sprintf("%016x", v.sum.Sum64())
	v.files = append(v.files, v.part)
	return nil
}

type checked struct {
	problem error
	scan    string
	status  scanner.Status
	known   uint64 // address<<16 | port, with bit 48 set; 0 if there is no IPv4 address
}

// checker returns a function that compares the records of a block with the schema.
func checker() func(*sink.Block) []checked {
	reader := record.NewReader().Strict()
	return func(b *sink.Block) (all []checked) {
		for _, line := range b.Lines() {
			rec, err := reader.Read(line)
			if err == nil {
				err = record.Check(line)
			}
			if err != nil {
				all = append(all, checked{problem: err})
				continue
			}
			one := checked{scan: rec.Scan, status: rec.Status}
			if ip := rec.Addr.Addr().Unmap(); ip.Is4() {
				b := ip.As4()
				one.known = 1<<48 | uint64(binary.BigEndian.Uint32(b[:]))<<16 | uint64(rec.Addr.Port())
			}
			all = append(all, one)
		}
		return all
	}
}

func (v *verifier) count(one *checked) {
	s := v.scans[one.scan]
	if s == nil {
		s = &scanCount{byStatus: map[string]uint64{}}
		v.scans[one.scan] = s
	}
	s.records++
	s.byStatus[one.status.String()]++
	if one.known != 0 {
		s.known = append(s.known, one.known)
	}
}

func (v *verifier) addRepeated() {
	for _, name := range slices.Sorted(maps.Keys(v.scans)) {
		known, scan := v.scans[name].known, ""
		if name != "" {
			scan = " of scan " + name
		}
		slices.Sort(known)
		for i, n := 0, 0; i < len(known); i += n {
			for n = 1; i+n < len(known) && known[i+n] == known[i]; {
				n++
			}
			if n > 1 {
				var ip [4]byte
				binary.BigEndian.PutUint32(ip[:], uint32(known[i]>>16))
				v.add("%v has %d records%s", netip.AddrPortFrom(netip.AddrFrom4(ip), uint16(known[i])), n, scan)
			}
		}
	}
}

// compareCounts compares the numbers of records, in total and by status, with the
// summaries of each scan. A scan without a summary may be incomplete, so it is a problem.
// Shards may have the same scan name, so compareCounts adds up their numbers. Silent
// targets have records only if the scan had --unanswered. If the census has no record of a
// silent target, compareCounts ignores the numbers of silent targets.
func (v *verifier) compareCounts(want []*census.Summary) {
	wanted := map[string]*scanCount{}
	for _, summary := range want {
		for _, s := range summary.Scans() {
			w := cmp.Or(wanted[s.Name], &scanCount{})
			wanted[s.Name] = w
			w.records += s.Records
			if w.byStatus == nil && s.ByStatus != nil {
				w.byStatus = map[string]uint64{}
			}
			for word, n := range s.ByStatus {
				w.byStatus[word] += n
			}
		}
	}
	for _, scan := range slices.Sorted(maps.Keys(v.scans)) {
		if len(want) > 0 && wanted[scan] == nil {
			v.add("found %s of scan %s, but no summary says how this scan ended",
				console.Plural(v.scans[scan].records, "record"), cmp.Or(scan, "without a name"))
		}
	}
	silent := []string{scanner.StatusNoReply.String(), scanner.StatusUnreachable.String()}
	for _, scan := range slices.Sorted(maps.Keys(wanted)) {
		want, found := wanted[scan], cmp.Or(v.scans[scan], &scanCount{})
		if found.records != want.records {
			v.add("found %s of scan %s, but its summary says %d", console.Plural(found.records, "record"), scan, want.records)
		}
		if want.byStatus == nil {
			continue
		}
		all := maps.Clone(want.byStatus)
		maps.Copy(all, found.byStatus)
		unanswered := found.byStatus[silent[0]]+found.byStatus[silent[1]] > 0
		for _, word := range slices.Sorted(maps.Keys(all)) {
			if n := found.byStatus[word]; n != want.byStatus[word] && (unanswered || !slices.Contains(silent, word)) {
				v.add("found %s of scan %s with status %s, but its summary says %d", console.Plural(n, "record"), scan, word, want.byStatus[word])
			}
		}
	}
}
