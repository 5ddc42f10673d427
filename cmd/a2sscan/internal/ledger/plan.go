package ledger

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// A plan is a struct, or a pointer to one, whose fields are the settings of a scan. The
// comment on scan.Plan explains the tags of the fields. The functions in this file use
// only the tags, so a new setting needs no change here.

// settings yields the fields of a plan for which match returns true, including the fields
// of embedded structs.
func settings(plan any, match func(reflect.StructTag) bool) iter.Seq2[reflect.StructField, reflect.Value] {
	v := reflect.Indirect(reflect.ValueOf(plan))
	return func(yield func(reflect.StructField, reflect.Value) bool) {
		for _, f := range reflect.VisibleFields(v.Type()) {
			if match(f.Tag) && !yield(f, v.FieldByIndex(f.Index)) {
				return
			}
		}
	}
}

// kept returns a function that reports whether the tag "same" of a setting contains word.
func kept(word string) func(reflect.StructTag) bool {
	return func(tag reflect.StructTag) bool { return slices.Contains(strings.Split(tag.Get("same"), ","), word) }
}

// Select returns a struct that has only the settings whose tag "same" contains word. As JSON,
// a setting has the same key as in plan.
func Select(plan any, word string) any {
	var fields []reflect.StructField
	var values []reflect.Value
	for f, v := range settings(plan, kept(word)) {
		fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		values = append(values, v)
	}
	selected := reflect.New(reflect.StructOf(fields)).Elem()
	for i, v := range values {
		selected.Field(i).Set(v)
	}
	return selected.Interface()
}

// Difference returns the name of the first setting that differs between two plans of the
// same type, and both values. It compares the settings whose tag "same" contains word,
// such as "resume". For the word "resume", the name is the value of the setting's tag
// "resume" or, without this tag, the value of the tag "flag". If no setting differs, the
// name is "".
func Difference(one, two any, word string) (name, a, b string) {
	text := func(v any) string {
		if list, ok := v.([]string); ok {
			v = strings.Join(list, ", ")
		}
		s := string([]rune(fmt.Sprint(v))) // like JSON, replace invalid UTF-8 in file names
		return cmp.Or(s, "none")
	}
	other := reflect.Indirect(reflect.ValueOf(two))
	for f, v := range settings(one, kept(word)) {
		if a, b = text(v.Interface()), text(other.FieldByIndex(f.Index).Interface()); a != b {
			return cmp.Or(f.Tag.Get(word), f.Tag.Get("flag")), console.Plain(a, 100), console.Plain(b, 100)
		}
	}
	return "", "", ""
}

// LogAttrs returns keys and values of the settings that have the tag "log". The parameter
// plan must be a pointer.
func LogAttrs(plan any) (attrs []any) {
	for f, v := range settings(plan, func(tag reflect.StructTag) bool { return tag.Get("log") != "" }) {
		value := v.Interface()
		if s, ok := v.Addr().Interface().(fmt.Stringer); ok {
			value = s.String()
		}
		attrs = append(attrs, f.Tag.Get("log"), value)
	}
	return attrs
}

// Part is a census that was merged into another one.
type Part struct {
	Name    string    `json:"name"` // name of the first file of the census
	Scan    string    `json:"scan"`
	Shard   string    `json:"shard"`
	Seed    *uint64   `json:"seed,omitempty"`
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Records uint64    `json:"records"`
	Sum     string    `json:"xxh64,omitempty"` // hash of the census; absent: the census has several files
}
