package record

// ColumnType is the type of a key's values, for writers of tables.
type ColumnType uint8

// The types of columns.
const (
	ColumnText    ColumnType = iota // text, also hex and base64
	ColumnID                        // 64 bits, a decimal string in the record
	ColumnMillis                    // a time with milliseconds
	ColumnSeconds                   // a time with seconds
	ColumnFloat64
	ColumnFloat32
	ColumnBool
	ColumnUint8
	ColumnUint16
	ColumnUint32
	ColumnUint64
	ColumnInt32
	ColumnObject // of Fields
	ColumnMap    // string to string
	ColumnJSON   // an object whose keys the schema does not define
)

// columnTypes maps the types of the schema to types of columns.
var columnTypes = [numTypes]ColumnType{
	typeText: ColumnText, typeWord: ColumnText, typeHex: ColumnText, typeBase64: ColumnText, typeID: ColumnID,
	typeTime: ColumnMillis, typeSeconds: ColumnSeconds, typeMillis: ColumnFloat64, typeFloat32: ColumnFloat32,
	typeBool: ColumnBool, typeUint8: ColumnUint8, typeUint16: ColumnUint16, typeUint32: ColumnUint32,
	typeUint64: ColumnUint64, typeInt32: ColumnInt32, typeObject: ColumnObject, typeMap: ColumnMap, typeJSON: ColumnJSON,
}

// Column describes a key that a record can have.
type Column struct {
	Name   string
	Type   ColumnType
	Lists  int // nesting of lists: 1 is a list of values, 2 a list of lists
	Always bool
	About  string
	Fields []Column
}

// Columns returns all keys that a record can have, in their order.
func Columns() []Column { return columnsOf(schemaKeys) }

func columnsOf(fields []field) (all []Column) {
	for i := range fields {
		f := &fields[i]
		all = append(all, Column{
			Name: f.name, Type: columnTypes[f.is], Lists: f.lists, Always: f.always, About: f.about,
			Fields: columnsOf(f.fields),
		})
	}
	return all
}
