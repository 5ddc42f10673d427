package record

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// ErrNoRaw means that a record has fewer datagrams than the scan received from its
// server, because the scan did not keep all of them.
var ErrNoRaw = errors.New("the record lacks datagrams of its server")

// knownSchema is the schema of the records that Append writes.
const knownSchema = "1"

// SchemaError means that this version does not know the schema of a record. Its
// value is the schema as it is written in the record.
type SchemaError string

// Error names the schema.
func (e SchemaError) Error() string {
	return fmt.Sprintf("has records of schema %.20s, and this version of a2sscan knows schema %s",
		string(e), knownSchema)
}

// CheckSchema returns a SchemaError if line begins like a record of an unknown
// schema. It looks at no other key.
func CheckSchema(line []byte) error {
	value, found := bytes.CutPrefix(line, []byte(`{"schema":`))
	if !found {
		return nil
	}
	end := bytes.IndexAny(value, ",}")
	if end < 0 || string(value[:end]) == knownSchema {
		return nil
	}
	return SchemaError(bytes.TrimSpace(value[:end]))
}

// values holds the members of a JSON object: the JSON of each value, by its key.
type values map[string]json.RawMessage

// Parse reads the datagrams of a record into Raw, and reads what they do not hold:
// the name of the scan; address, tag, location, the master's data, times, counts,
// hashes and flags; which questions were asked, their errors, and which of them
// were answered without a challenge. The other fields of the Result are zero;
// scanner.Decoder.Redecode fills them from the datagrams.
//
// If there are fewer datagrams than were received, Parse returns the Result and
// ErrNoRaw. The Result shares no memory with line.
func Parse(line []byte) (scan string, r *scanner.Result, err error) {
	var v values
	if err := json.Unmarshal(line, &v); err != nil || v["schema"] == nil {
		return "", nil, errors.New("not a record")
	}
	if schema := string(v["schema"]); schema != knownSchema {
		return "", nil, SchemaError(schema)
	}
	r = &scanner.Result{}
	scan = v.text("scan", &err)
	r.Tag = v.text("tag", &err)
	r.Addr = v.addr(&err)
	r.Geo = v.geo(&err)
	r.Master = v.object("master", &err)
	v.traffic(r, &err)
	v.hashes(r, &err)
	v.questions(r, &err)
	v.raw(r, &err)
	if err == nil && len(r.Raw) < int(r.Received) {
		err = ErrNoRaw
	}
	return scan, r, err
}

// traffic reads times, counts and flags, and whether a ping was answered.
func (v values) traffic(r *scanner.Result, err *error) {
	r.Time = v.time(err)
	r.RTT, r.Took = v.millis("rtt_ms", err), v.millis("took_ms", err)
	v.roundTrips(r, err)
	r.Flags = v.flags(err)
	if v["ping"] != nil {
		r.Asked |= scanner.AskPing
		r.PingRTT = v.inner("ping", err).millis("rtt_ms", err)
	}
	v.get("sent", &r.Sent, err)
	v.get("received", &r.Received, err)
	v.get("sent_bytes", &r.SentBytes, err)
	v.get("received_bytes", &r.RecvBytes, err)
}

// raw reads the datagrams.
func (v values) raw(r *scanner.Result, err *error) {
	var all []string
	v.get("raw", &all, err)
	for _, text := range all {
		b, bad := base64.StdEncoding.DecodeString(text)
		if bad != nil && *err == nil {
			*err = fmt.Errorf("raw: %w", bad)
		}
		r.Raw = append(r.Raw, b)
	}
}

// get decodes the value of key into to, if the key is present. If that fails, it
// sets *err, unless *err is set already.
func (v values) get(key string, to any, err *error) {
	if v[key] == nil {
		return
	}
	if bad := json.Unmarshal(v[key], to); bad != nil && *err == nil {
		*err = fmt.Errorf("%s: has another type", key)
	}
}

// text returns a string: the exact bytes from KEY_hex if that key is present, else
// the value of key.
func (v values) text(key string, err *error) string {
	var s, exact string
	v.get(key, &s, err)
	if v.get(key+"_hex", &exact, err); exact == "" {
		return s
	}
	b, bad := hex.DecodeString(exact)
	if bad != nil && *err == nil {
		*err = fmt.Errorf("%s_hex: %w", key, bad)
	}
	return string(b)
}

// object returns the JSON of an object, or "" if the key is absent. A value of
// another type is an error.
func (v values) object(key string, err *error) string {
	raw := v[key]
	if raw != nil && raw[0] != '{' && *err == nil {
		*err = fmt.Errorf("%s: has another type", key)
	}
	return string(raw)
}

func (v values) addr(err *error) netip.AddrPort {
	var ip netip.Addr
	var port uint16
	v.get("ip", &ip, err)
	v.get("port", &port, err)
	return netip.AddrPortFrom(ip, port)
}

func (v values) time(err *error) (t time.Time) {
	v.get("time", &t, err)
	return t
}

// millis reads a number of milliseconds, with up to three decimal places.
func (v values) millis(key string, err *error) time.Duration {
	var ms float64
	v.get(key, &ms, err)
	return time.Duration(math.Round(ms*1000)) * time.Microsecond
}

// questions reads the error of each question, which questions were asked, and which
// were answered without a challenge. A question was asked if it has an answer or an
// error.
func (v values) questions(r *scanner.Result, err *error) {
	var words values
	var bare, notes []string
	v.get("errors", &words, err)
	v.get("unchallenged", &bare, err)
	v.get("notes", &notes, err)
	for q := range wire.Question(wire.NumQuestions) {
		key := q.String()
		var word string
		words.get(key, &word, err)
		r.Err[q] = errorOf(word)
		answered := v[key] != nil || slices.Contains(notes, key+".dropped")
		if r.Err[q] != 0 || answered {
			r.Asked |= 1 << q
		}
		if slices.Contains(bare, key) {
			r.Unchallenged |= 1 << q
		}
	}
}

func errorOf(word string) wire.Error {
	for e := range wire.Error(wire.NumErrors) {
		if e.String() == word {
			return e
		}
	}
	return 0
}

// Difference is a key with different values in two records: its path, with dots
// between the keys, and the JSON of each value, which is "" if the key is absent.
// All three may contain text from strangers.
type Difference struct {
	Key        string // info.name
	One, Other string // JSON
}

// Differences compares the values of two records, regardless of how they are
// formatted. It ignores keys that are not in the schema. If one of the records has
// none of the keys addr, rtts_ms, hashes, game and flags, which earlier versions
// did not write, it ignores these keys too.
func Differences(one, other []byte) ([]Difference, error) {
	if bytes.Equal(one, other) {
		return nil, nil
	}
	a, err := decodeExactly(one)
	if err != nil {
		return nil, err
	}
	b, err := decodeExactly(other)
	if err != nil {
		return nil, err
	}
	aside := lacksMeaning(a) || lacksMeaning(b)
	var ds []Difference
	for _, f := range schemaKeys {
		if aside && slices.Contains(meaningKeys, f.name) {
			continue
		}
		ds = differ(ds, f.name, a[f.name], b[f.name])
	}
	return ds, nil
}

// meaningKeys are the keys that records of earlier versions lack.
var meaningKeys = []string{"addr", "rtts_ms", "hashes", "game", "flags"}

// lacksMeaning reports whether a record has none of meaningKeys. A later version
// always writes addr if the server's address is known.
func lacksMeaning(v map[string]any) bool {
	for _, key := range meaningKeys {
		if v[key] != nil {
			return false
		}
	}
	return true
}

// decodeExactly decodes a record, and keeps numbers as they are written.
func decodeExactly(line []byte) (v map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// differ appends the difference between a and b, the values of key in two records.
// If both are objects, it compares their members.
func differ(ds []Difference, key string, a, b any) []Difference {
	m, ok1 := a.(map[string]any)
	n, ok2 := b.(map[string]any)
	if !ok1 || !ok2 {
		if !reflect.DeepEqual(a, b) {
			ds = append(ds, Difference{key, written(a), written(b)})
		}
		return ds
	}
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	for k := range n {
		if _, both := m[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		ds = differ(ds, key+"."+k, m[k], n[k])
	}
	return ds
}

// written returns the JSON of a value, or "" if the value is absent.
func written(v any) string {
	if v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "" // it was made of JSON
	}
	return string(b)
}
