// Parses YAML text into nodes at a bounded cost: piece by piece, up to the first piece beyond a
// limit.
import { Composer, CST, Lexer, Parser, YAMLParseError } from 'yaml'
import type { Document, ParsedNode } from 'yaml'

/** No field of any schema is nested half as deep. */
export const depthMax = 32

/**
 * Keys, values and indicators of one file. The longest lists of the schemas, in their shortest
 * form, stay below it; texts that cost the most memory for their size exceed it.
 */
export const piecesMax = 350_000

/** Misplaced characters, such as a megabyte of `]`: nobody corrects so many. */
const strayMax = 50

/** The limit that was exceeded, and where. */
export interface Excess {
  readonly kind: 'depth' | 'pieces'
  readonly at: number
}

export interface ParsedYaml {
  /** The content up to `excess`. */
  readonly document: Document.Parsed<ParsedNode>
  readonly excess: Excess | undefined
  /** Number of pieces in the text, the measure of its cost. */
  readonly pieces: number
}

export function parseYaml(text: string): ParsedYaml {
  const { stackTraceLimit } = Error
  const { env } = process
  // The library makes an Error for each fault; its stack costs more than the rest.
  Error.stackTraceLimit = 0
  // The library reads two environment variables at each piece, which takes a third of the time.
  process.env = noVariables
  try {
    return compose(text)
  } finally {
    process.env = env
    Error.stackTraceLimit = stackTraceLimit
  }
}

const noVariables: NodeJS.ProcessEnv = Object.freeze({})

function compose(text: string): ParsedYaml {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    // The library compares every key with every other one; a set does the same in one pass.
    uniqueKeys: false,
    prettyErrors: false,
  })
  const reading = new Reading()
  let document: Document.Parsed<ParsedNode> | undefined
  for (const found of composer.compose(reading.tokens(text), true, text.length)) {
    if (document !== undefined) {
      const [start, end] = found.range
      document.errors.push(new YAMLParseError([start, end], 'MULTIPLE_DOCS', 'second document'))
      break
    }
    document = found
  }
  return { document: document!, excess: reading.excess, pieces: reading.pieces }
}

/** Turns text into the library's tokens and stops at a limit. */
class Reading {
  excess: Excess | undefined
  pieces = 0
  #strays = 0

  #excessAt({ stack, offset }: Parser, piece: string): Excess | undefined {
    // The stack holds the document, the collections around this place, and possibly a value of the
    // last.
    if (stack.length > depthMax + 2) return { kind: 'depth', at: Math.max(0, offset - 1) }
    if (counts(piece) && ++this.pieces > piecesMax) return { kind: 'pieces', at: offset - 1 }
    return undefined
  }

  *tokens(text: string): Generator<CST.Token> {
    const parser = new Parser()
    for (const piece of new Lexer().lex(text)) {
      for (const token of parser.next(piece)) {
        yield token
        if (token.type === 'error' && ++this.#strays === strayMax) return yield* parser.end()
      }
      this.excess = this.#excessAt(parser, piece)
      if (this.excess !== undefined) break
    }
    yield* parser.end()
  }
}

/** White space and comments are cheap; the text of a plain value follows its own marker. */
function counts(piece: string): boolean {
  const [first = '\n'] = piece
  return piece === CST.SCALAR || '{}[],:-?*&!|>\'"%'.includes(first)
}
