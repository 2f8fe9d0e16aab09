// map-file: the member that the first matching rule of `mapFile.rules` names, then the others in
// the order of the file; without a match all of them in that order.
import { preferMapped } from '../filters/map-file.ts'
import type { Algorithm } from '#routing/choose/step.ts'

export const mapFile: Algorithm = {
  name: 'map-file',
  aliases: ['mapfile'],
  bind: () => preferMapped,
}
