// Reads the header in which a dry run tells how many clients it would move.

/**
 * @param header `moved=12.4%; names=3; later=1`.
 * @returns a sentence
 */
export function effectIn(header: string): string {
  const said = new Map(
    header.split(';').map((part) => {
      const [name = '', value = ''] = part.trim().split('=')
      return [name, value] as const
    }),
  )
  const names = Number(said.get('names') ?? NaN)
  if (Number.isNaN(names)) return ''
  const later = Number(said.get('later') ?? 0)
  const after = later > 0 ? ` ${later} more may change later.` : ''
  if (names === 0) return `No name would answer differently now.${after}`
  const whom = `${names} ${names === 1 ? 'name' : 'names'} would answer differently`
  const moved = said.get('moved') ?? '0%'
  if (moved === '0%') return `${whom}; no client would move to another address.${after}`
  return `${whom}; of the clients of one, up to ${moved} would move.${after}`
}
