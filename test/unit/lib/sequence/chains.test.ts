import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Chains } from '#lib/sequence/chains.ts'

test('each list has its items in the order in which they came, and so have all together', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4)), (lists) => {
      const chains = new Chains<string>()
      const listOf = new Map<number, number>()
      const items = lists.map((list, i) => `${list}/${i}`)
      for (const [i, list] of lists.entries()) {
        listOf.set(list, chains.add(listOf.get(list) ?? -1, items[i]!))
      }
      expect(chains.items).toEqual(items)
      for (let list = 0; list < 5; list++) {
        const own = items.filter((item) => item.startsWith(`${list}/`))
        expect(chains.of(listOf.get(list) ?? -1)).toEqual(own)
      }
    }),
  )
})
