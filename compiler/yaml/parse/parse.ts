// Parses YAML text into nodes at a bounded cost: piece by piece, up to the first piece that exceeds
// a limit.
import { Composer, CST, Lexer, Parser, YAMLParseError } from 'yaml'
import type { Document, ParsedNode } from 'yaml'

/** No field of any schema is nested half as deep. */
export const depthMax = 32

/**
 * Keys, values and the signs between them, of one file. The longest lists that the schemas take,
 * written as short as can be, are below it; what costs most memory for its size is above it.
 */
export const piecesMax = 350_000

/** Signs that belong nowhere, such as a megabyte of `]`: nobody corrects so many of them. */
const strayMax = 50

/** What the reading stopped at, and where. */
export interface Excess {
  readonly kind: 'depth' | 'pieces'
  readonly at: number
}

export interface ParsedYaml {
  /** Holds what was read up to `excess`. */
  readonly document: Document.Parsed<ParsedNode>
  readonly excess: Excess | undefined
  /** How many pieces the text has, which is what reading it costs. */
  readonly pieces: number
}

export function parseYaml(text: string): ParsedYaml {
  const { stackTraceLimit } = Error
  const { env } = process
  // The library makes an Error for each fault; the stack of one costs more than the rest of it.
  Error.stackTraceLimit = 0
  // It asks for two variables at each piece: asked of the system that is a third of all time.
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

/** From octets to the library's tokens: those trees of which it makes nodes. */
class Reading {
  excess: Excess | undefined
  pieces = 0
  #strays = 0

  #excessAt({ stack, offset }: Parser, piece: string): Excess | undefined {
    // On the stack: the document, the collections around this place, perhaps a value of the last.
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

/** White space and comments cost little; the text of a plain value follows a mark of its own. */
function counts(piece: string): boolean {
  const [first = '\n'] = piece
  return piece === CST.SCALAR || '{}[],:-?*&!|>\'"%'.includes(first)
}
