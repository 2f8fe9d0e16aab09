// Names in wire form, from texts that are names.
import { parseName } from '#dns/name.ts'

export function wireName(text: string): Uint8Array {
  const parsed = parseName(text)
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error}`)
  return parsed.value
}
