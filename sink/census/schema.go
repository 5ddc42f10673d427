package census

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

type object = map[string]any

// StatsSchema returns the schema of a stats.json as a JSON Schema (draft
// 2020-12). The schema allows other keys, because later versions may add some.
func StatsSchema() []byte {
	s := schemaOf(reflect.TypeFor[Stats]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"], s["description"] = "a2sscan stats", "The aggregates of one census."
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		panic("census: the schema: " + err.Error()) // can't fail: the schema consists of strings and numbers
	}
	return append(b, '\n')
}

// schemaOf returns the JSON Schema for a Go type. Types without a case here are non-negative
// integers.
func schemaOf(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[Moment]() {
			return object{"type": "string", "format": "date-time"}
		}
		keys, required := object{}, []string{}
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				continue // an embedded struct, whose fields VisibleFields returns too
			}
			value := schemaOf(f.Type)
			if name == "schema" {
				value = object{"const": statsSchema}
			}
			if text := f.Tag.Get("about"); text != "" {
				value["description"] = text
			}
			keys[name] = value
			if !strings.Contains(options, "omitempty") {
				required = append(required, name)
			}
		}
		return object{"type": "object", "properties": keys, "required": required}
	}
	return object{"type": "integer", "minimum": 0}
}
