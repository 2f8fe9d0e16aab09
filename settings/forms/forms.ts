// Schema building blocks for the settings of gslbd.yaml.
import { tenantIdPattern } from '#lib/text/patterns.ts'
import { Type } from '#lib/schema/type.ts'
import type { Of, Optional, Static, TSchema } from '#lib/schema/type.ts'

declare const milliseconds: unique symbol

/** A setting that is written as a duration; the name of its value ends in `Ms`. */
type Milliseconds = Optional<Of<number>> & { readonly [milliseconds]: true }
type Properties = Readonly<Record<string, TSchema>>
/** The type of an object with its defaults: no property is missing. */
type Settled<P extends Properties> = {
  readonly [K in keyof P as P[K] extends Milliseconds ? `${K & string}Ms` : K]: Readonly<
    Static<P[K]>
  >
}

/** The meaning of a setting's text where JSON Schema has no word for it. */
type SettingKind =
  'duration' | 'address' | 'path' | 'url' | 'git-url' | 'networks' | 'resolvers' | 'names'

export type SettingValue =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly Readonly<Record<string, string | readonly string[]>>[]
  | Readonly<Record<string, string | Readonly<Record<string, string>>>>

/** A leaf of the schema, as the loader, the reference page and SIGHUP read it. */
export interface SettingLeaf {
  readonly description: string
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object'
  readonly enum?: readonly string[]
  readonly default?: SettingValue
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly 'x-kind'?: SettingKind
  readonly 'x-minimumMs'?: number
  readonly 'x-maximumMs'?: number
  /** True: SIGHUP applies a change. Otherwise the process must be restarted. */
  readonly 'x-reload'?: boolean
  /** The default in words, when it is not a constant. */
  readonly 'x-default'?: string
  /** True: no message shows the value back. */
  readonly 'x-secret'?: boolean
  /** Advice on what to write, where type and bounds do not say it. */
  readonly 'x-expected'?: string
}

const durationPattern = '^(0|([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+)$'

interface DurationOptions {
  readonly default: string
  readonly description: string
  readonly minimumMs: number
  readonly maximumMs: number
  readonly reload?: boolean
}

export function duration(options: DurationOptions): Milliseconds {
  const { minimumMs, maximumMs, reload = false, ...rest } = options
  return Type.Optional(
    Type.String({
      ...rest,
      pattern: durationPattern,
      maxLength: 40,
      'x-kind': 'duration',
      'x-minimumMs': minimumMs,
      'x-maximumMs': maximumMs,
      ...(reload ? { 'x-reload': true } : {}),
    }),
  ) as TSchema as Milliseconds
}

/** A setting without a default is undefined. */
type NoDefault = { readonly 'x-default': 'none' | 'the authorities of the system' }
type Leaf<T, O> = Optional<Of<O extends NoDefault ? T | undefined : T>>
type Options = Readonly<Record<string, unknown>>

export const integer = <const O extends Options>(minimum: number, maximum: number, options: O) =>
  Type.Optional(Type.Integer({ ...options, minimum, maximum })) as Leaf<number, O>
export const boolean = (options: Options) => Type.Optional(Type.Boolean(options))
export const text = <const O extends Options>(maxLength: number, options: O) =>
  Type.Optional(Type.String({ ...options, maxLength })) as Leaf<string, O>
/**
 * A setting that names a database file. The node checks the file while it runs: a valid new file
 * replaces the old one, a broken one does not.
 */
export const database = (description: string) =>
  text(4_096, {
    'x-kind': 'path',
    'x-default': 'none',
    'x-expected': 'the path of an MMDB file',
    description: `${description} An MMDB file, read again whenever it changes.`,
  })
/** A setting that lists texts of one kind; by default it is empty. */
const listOf = (kind: SettingKind, maxItems: number, item: Options, options: Options) =>
  Type.Optional(
    Type.Array(Type.String(item), { ...options, default: [], maxItems, 'x-kind': kind }),
  )
export const networks = (options: Options, itemsMax = 1_000) =>
  listOf('networks', itemsMax, { maxLength: 64 }, options)
/** A setting that lists name servers: addresses, with a port or without. */
export const resolvers = (options: Options) => listOf('resolvers', 16, { maxLength: 64 }, options)
export const list = (lengthMax: number, options: Options) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: lengthMax }), { ...options, maxItems: 100 }),
  )
const label = '[A-Za-z0-9_-]{1,63}'
/** Matches the name of a node. */
export const nodeNamePattern = '^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$'
/** Matches the name of a zone or a key; in settings the final dot may be left out. */
export const namePattern = `^${label}(\\.${label})*\\.?$`
/** Octets of a name, with the dots between its labels. RFC 1035 section 2.3.4. */
export const nameLengthMax = 253
/** A setting with one name. Empty: none. */
export const name = (options: Options) =>
  text(nameLengthMax, { ...options, default: '', pattern: `^$|${namePattern}` })
export const names = (options: Options) =>
  listOf('names', 100, { maxLength: nameLengthMax, pattern: namePattern }, options)
/** A setting that maps names of the operator's choice to one of a few words. */
export const mapping = <V extends string>(values: readonly V[], options: Options) =>
  Type.Optional(
    Type.Record(Type.String(), Type.Enum(values), {
      ...options,
      default: {},
      maxProperties: 1_000,
    }),
  )
const pemPath = Type.String({ maxLength: 4_096, pattern: '^/[^\\0]*$' })
/** A name of the operator's choice. */
export const entryName = Type.String({ pattern: '^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$' })
const tenantId = Type.String({ pattern: tenantIdPattern.source })
/** A setting that maps names of the operator's choice to the files and users of a certificate. */
export const certificates = (options: Options) =>
  Type.Optional(
    Type.Record(
      entryName,
      Type.Object(
        { cert: pemPath, key: pemPath, tenants: Type.Optional(Type.Array(tenantId)) },
        { additionalProperties: false },
      ),
      {
        ...options,
        additionalProperties: false,
        default: {},
        maxProperties: 1_000,
        'x-expected':
          'names in small letters, each with { cert: /ABSOLUTE/PATH, key: /ABSOLUTE/PATH }, and ' +
          'with tenants: [ID, …] where others than the tenant default use it',
      },
    ),
  )
/** A setting like `certificates`, for a server that shows its certificate to every client. */
export const serverCertificates = (what: string) =>
  Type.Optional(
    Type.Record(
      entryName,
      Type.Union([
        Type.Object({ cert: pemPath, key: pemPath }, { additionalProperties: false }),
        Type.Object({ acme: entryName }, { additionalProperties: false }),
      ]),
      {
        description:
          `${what}, each \`{ cert: PATH, key: PATH }\`, or \`{ acme: NAME }\` with a name of ` +
          '`acme.certificates`, by names of your own. A client is shown the first that is for ' +
          'the name that it asks for, else the first. Renewed files are taken over within ten ' +
          'seconds.',
        additionalProperties: false,
        default: {},
        maxProperties: 100,
        'x-expected':
          'names in small letters, each with { cert: /ABSOLUTE/PATH, key: /ABSOLUTE/PATH } or ' +
          '{ acme: NAME }',
      },
    ),
  )
/** One file of a certificate. */
export const pemFile = (description: string) =>
  text(4_096, {
    'x-kind': 'path',
    'x-default': 'none',
    'x-expected': 'the path of a file in PEM form',
    description,
  })
export const choice = <const V extends string>(values: readonly V[], options: Options) =>
  Type.Optional(Type.Enum(values, options))
export const section = <P extends Properties>(description: string, properties: P) =>
  settled(properties, { additionalProperties: false, description })
/** An object whose values all have defaults. */
export const settled = <P extends Properties>(properties: P, options: Options) =>
  Type.Optional(Type.Object(properties, options) as TSchema as Of<Settled<P>>)
