// Decodes the data section of a MaxMind DB file; only wanted fields.
import { geoLimits } from './limits.ts'

export type MmdbValue =
  string | number | bigint | boolean | Uint8Array | readonly MmdbValue[] | MmdbMap
export type MmdbMap = ReadonlyMap<string, MmdbValue>

/** The keys of a map to decode. `all`: everything below. */
export type Wanted = 'all' | WantedKeys
export type WantedKeys = ReadonlyMap<string, Wanted>

/** MaxMind DB File Format Specification 2.0, "Output Data Section". */
const FieldType = {
  Extended: 0,
  Pointer: 1,
  String: 2,
  Double: 3,
  Bytes: 4,
  Uint16: 5,
  Uint32: 6,
  Map: 7,
  Int32: 8,
  Uint64: 9,
  Uint128: 10,
  Array: 11,
  CacheContainer: 12,
  EndMarker: 13,
  Boolean: 14,
  Float: 15,
} as const

/** The most octets of a number, by type. */
const numberBytesMax: Readonly<Record<number, number>> = {
  [FieldType.Uint16]: 2,
  [FieldType.Uint32]: 4,
  [FieldType.Int32]: 4,
  [FieldType.Uint64]: 8,
  [FieldType.Uint128]: 16,
}

/** Added to a pointer, by its size: longer pointers begin where shorter ones end. */
const pointerBias = [0, 2048, 526_336, 0] as const
const knownKeysMax = 4_096

/**
 * Reads records. An error is in `fault`, as the end of a sentence that begins with "the database";
 * nothing is read after it.
 */
export class MmdbData {
  fault: string | undefined
  readonly #bytes: Buffer
  readonly #start: number
  readonly #end: number
  /** Keys by offset: databases write a key once, and point to it. */
  readonly #knownKeys = new Map<number, string>()
  #valuesLeft: number
  #recordValuesLeft = 0
  #at = 0
  /** Type and size of the field whose control octets were read last. */
  #type = 0
  #size = 0

  /** @param end after the last octet of the section, which begins at `start` */
  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes
    this.#start = start
    this.#end = end
    this.#valuesLeft = (end - start) * geoLimits.valuesPerOctetMax + geoLimits.recordValuesMax
  }

  /**
   * @param offset from the start of the section
   *
   * @returns undefined after a fault, or for a value of another form
   */
  read(offset: number, wanted: Wanted): MmdbValue | undefined {
    if (this.fault !== undefined) return undefined
    this.#at = this.#start + offset
    this.#recordValuesLeft = geoLimits.recordValuesMax
    const value = this.#field(wanted, 0)
    return this.fault === undefined ? value : undefined
  }

  #field(wanted: Wanted, depth: number): MmdbValue | undefined {
    if (depth > geoLimits.depthMax) return this.#fail('has maps inside maps without end')
    if (!this.#control()) return undefined
    if (this.#type !== FieldType.Pointer) return this.#value(wanted, depth)
    const behind = this.#follow()
    if (behind === undefined) return undefined
    const value = this.#value(wanted, depth)
    this.#at = behind
    return value
  }

  /**
   * Follows a pointer, and reads the control octets there.
   *
   * @returns the offset to return to
   */
  #follow(): number | undefined {
    const target = this.#pointer()
    if (target === undefined) return undefined
    const behind = this.#at
    this.#at = target
    if (!this.#control()) return undefined
    if (this.#type === FieldType.Pointer) return this.#fail('has a pointer to a pointer')
    return behind
  }

  #value(wanted: Wanted, depth: number): MmdbValue | undefined {
    switch (this.#type) {
      case FieldType.Map:
        return this.#map(wanted, depth)
      case FieldType.Array:
        return this.#array(wanted, depth)
      case FieldType.Boolean:
        return this.#size === 1
      default:
        return this.#scalar()
    }
  }

  #map(wanted: Wanted, depth: number): MmdbMap | undefined {
    const map = new Map<string, MmdbValue>()
    for (let left = this.#size; left > 0 && this.fault === undefined; left--) {
      const key = this.#key()
      if (key === undefined) return undefined
      const below = wanted === 'all' ? 'all' : wanted.get(key)
      if (below === undefined) {
        this.#skip()
        continue
      }
      const value = this.#field(below, depth + 1)
      if (value !== undefined) map.set(key, value)
    }
    return map
  }

  #key(): string | undefined {
    if (!this.#control()) return undefined
    let behind: number | undefined
    if (this.#type === FieldType.Pointer) {
      behind = this.#follow()
      if (behind === undefined) return undefined
    }
    if (this.#type !== FieldType.String) return this.#fail('has a map with a key that is no text')
    const from = this.#at
    if (!this.#advance(this.#size)) return undefined
    let key = this.#knownKeys.get(from)
    if (key?.length !== this.#at - from) {
      key = this.#bytes.toString('utf8', from, this.#at)
      if (this.#knownKeys.size < knownKeysMax) this.#knownKeys.set(from, key)
    }
    if (behind !== undefined) this.#at = behind
    return key
  }

  #array(wanted: Wanted, depth: number): MmdbValue[] | undefined {
    const values: MmdbValue[] = []
    for (let left = this.#size; left > 0 && this.fault === undefined; left--) {
      const value = this.#field(wanted, depth + 1)
      if (value !== undefined) values.push(value)
    }
    return values
  }

  #scalar(): MmdbValue | undefined {
    const [type, size, from] = [this.#type, this.#size, this.#at]
    if (!this.#advance(size)) return undefined
    if (type === FieldType.String) return this.#bytes.toString('utf8', from, from + size)
    if (type === FieldType.Bytes) return this.#bytes.subarray(from, from + size)
    if (type === FieldType.Double && size === 8) return this.#bytes.readDoubleBE(from)
    if (type === FieldType.Float && size === 4) return this.#bytes.readFloatBE(from)
    const bytesMax = numberBytesMax[type]
    if (bytesMax === undefined || size > bytesMax) {
      return this.#fail(`has a field of type ${type} and ${size} octets, which no version knows`)
    }
    if (size <= 6) {
      const number = size === 0 ? 0 : this.#bytes.readUIntBE(from, size)
      return type === FieldType.Int32 ? number | 0 : number
    }
    const number = BigInt(`0x${this.#bytes.toString('hex', from, from + size)}`)
    return number <= Number.MAX_SAFE_INTEGER ? Number(number) : number
  }

  /** Skips a field with its content; pointers are not followed. */
  #skip(): void {
    for (let left = 1; left > 0; left--) {
      if (!this.#control()) return
      if (this.#type === FieldType.Pointer) {
        if (this.#pointer() === undefined) return
      } else if (this.#type === FieldType.Map) {
        left += this.#size * 2
      } else if (this.#type === FieldType.Array) {
        left += this.#size
      } else if (this.#type !== FieldType.Boolean) {
        if (!this.#advance(this.#size)) return
      }
    }
  }

  /** Reads type and size. For a pointer, the size holds the rest of its control octet. */
  #control(): boolean {
    if (--this.#recordValuesLeft < 0 || --this.#valuesLeft < 0) {
      this.#fail('has records that go on without end')
      return false
    }
    const from = this.#at
    if (!this.#advance(1)) return false
    const control = this.#bytes[from]!
    this.#type = control >> 5
    this.#size = control & 0x1f
    if (this.#type === FieldType.Pointer) return true
    if (this.#type === FieldType.Extended) {
      if (!this.#advance(1)) return false
      this.#type = 7 + this.#bytes[this.#at - 1]!
    }
    if (this.#size < 29) return true
    const more = this.#size - 28
    if (!this.#advance(more)) return false
    const base = more === 1 ? 29 : more === 2 ? 285 : 65_821
    this.#size = base + this.#bytes.readUIntBE(this.#at - more, more)
    return true
  }

  /** @returns an offset in the file */
  #pointer(): number | undefined {
    const more = (this.#size >> 3) + 1
    const high = more === 4 ? 0 : (this.#size & 7) * 2 ** (8 * more)
    if (!this.#advance(more)) return undefined
    const low = this.#bytes.readUIntBE(this.#at - more, more)
    const target = this.#start + high + low + pointerBias[more - 1]!
    if (target >= this.#end) return this.#fail('has a pointer out of its data section')
    return target
  }

  #advance(octets: number): boolean {
    this.#at += octets
    if (this.#at <= this.#end) return true
    this.#fail('ends in the middle of a record')
    return false
  }

  #fail(what: string): undefined {
    this.fault ??= what
    return undefined
  }
}
