// Describes each filter of a chain for forms: a line of text, and its argument.
import { filters } from '#routing/choose/ways.ts'
import type { Way } from '#routing/choose/way.ts'
import { filterLengthMax } from '#schemas/objects/service.ts'

/** Shown in the OpenAPI document as `x-steps` of the entries of a chain. */
export const chainSteps = Object.freeze(filters.map(stepOf))

function stepOf({ name, aliases, kind, argument, page }: Way) {
  return {
    ...{ name, aliases, isLast: kind === 'selecting' },
    description: withoutLinks(page.does.split(';', 1)[0]!),
    settings: argument === undefined ? withoutLinks(page.settings) : '',
    ...(argument === undefined ? {} : { options: programOf(name) }),
  }
}

/** The schema of the argument after the colon, as an object with one field. */
function programOf(name: string) {
  const program = {
    ...{ type: 'string', contentMediaType: 'text/javascript', minLength: 1 },
    maxLength: filterLengthMax - `${name}:`.length,
    description: 'JavaScript: of `candidates` it makes `result`, a list of addresses in order.',
  }
  return { type: 'object', properties: { program }, required: ['program'] }
}

function withoutLinks(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}
