// Takes a refusal of the API apart: which sentence of it is about which field.

export interface FieldRefusal {
  /** `steps.0.weightPct`; empty: the object as a whole. */
  readonly field: string
  readonly sentence: string
}

const start = /(?:^|(?<=[;.] ))([A-Za-z]\w*(?:\.\w+)*): /g

/**
 * The API names a field, a colon, and what is wrong with it, one after the other.
 *
 * @param isField whether a first word is one of the object
 */
export function refusalsOf(refusal: string, isField: (name: string) => boolean): FieldRefusal[] {
  const found = [...refusal.matchAll(start)].filter(
    ([, field = ''], i) => isField(field.split('.')[0]!) || (i === 0 && field === 'body'),
  )
  // A field that the object does not have is told, too, where nothing else is.
  const isOther = found.length === 0 && /^([A-Za-z]\w*): there is no such field/.exec(refusal)
  if (isOther) return [{ field: isOther[1]!, sentence: refusal }]
  if (found.length === 0) return refusal === '' ? [] : [{ field: '', sentence: refusal }]
  return found.map(({ 1: field = '', index }, i) => ({
    field: field === 'body' ? '' : field,
    sentence: refusal.slice(index, found[i + 1]?.index).replace(/[; ]+$/, ''),
  }))
}
