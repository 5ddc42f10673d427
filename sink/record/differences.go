package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

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

// CheckSchema returns a SchemaError if line is a record of an unknown schema. It looks
// at no other key.
func CheckSchema(line []byte) error {
	value, found := bytes.CutPrefix(line, []byte(`{"schema":1`))
	if found && len(value) > 0 && (value[0] == ',' || value[0] == '}') { // as Append writes it
		return nil
	}
	_, err := NewReader("schema").Read(line)
	if unknown := SchemaError(""); errors.As(err, &unknown) {
		return unknown
	}
	return nil
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
	later := []string{"addr", "rtts_ms", "hashes", "game", "flags"}
	lacks := func(v map[string]any) bool {
		return !slices.ContainsFunc(later, func(key string) bool { return v[key] != nil })
	}
	aside := lacks(a) || lacks(b)
	var ds []Difference
	for _, f := range schemaKeys {
		if !aside || !slices.Contains(later, f.name) {
			ds = differ(ds, f.name, a[f.name], b[f.name])
		}
	}
	return ds, nil
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
	all := maps.Clone(m)
	maps.Copy(all, n)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		ds = differ(ds, key+"."+k, m[k], n[k])
	}
	return ds
}

// written returns the JSON of a value, or "" if the value is absent.
func written(v any) string {
	if v == nil {
		return ""
	}
	b, _ := json.Marshal(v) // it was made of JSON
	return string(b)
}
