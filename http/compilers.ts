// Compiles the schemas of a route at its first request: compiling all at the start would take 0.4 s
// of CPU time.
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyServerOptions } from 'fastify'
import type { TSchema } from '#lib/schema/type.ts'
import { createCheck } from './validation.ts'
import type { Part } from './validation.ts'

type Write = (value: unknown) => string

/** Shared by servers of this process, since schemas of responses are constants. */
const writers = new WeakMap<object, Write>()

function writerOf(schema: object): Write {
  const known = writers.get(schema)
  if (known !== undefined) return known
  const write = fastJsonStringify(schema) as Write
  writers.set(schema, write)
  return write
}

/** Converts a check to the framework's form. */
function createValidator(check: (value: unknown) => string[]) {
  return (value: unknown) => {
    const faults = check(value)
    if (faults.length === 0) return { value }
    return { error: Object.assign(new Error(faults.join('; ')), { statusCode: 400 }) }
  }
}

type HttpPart = Exclude<Part, 'query'> | 'querystring'

/** People say "parameter", not "field of the query string". */
const buildValidator =
  () =>
  ({ schema, httpPart }: { schema: TSchema; httpPart: HttpPart }) =>
    createValidator(createCheck(schema, httpPart === 'querystring' ? 'query' : httpPart))

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
type Factories = Required<NonNullable<SchemaController['compilersFactory']>>

export const schemaController: SchemaController = {
  compilersFactory: {
    // The framework's type only knows validators of Ajv.
    buildValidator: buildValidator as unknown as Factories['buildValidator'],
    buildSerializer:
      () =>
      ({ schema }) =>
      (value) =>
        writerOf(schema as object)(value),
  },
}
