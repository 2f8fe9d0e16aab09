import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DueHeap } from '#health/thread/due-heap.ts'
import type { DueItem } from '#health/thread/due-heap.ts'

test('gives out what is in it in the order of due times, whatever was taken out before', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(50), fc.boolean()), { maxLength: 60 }), (rows) => {
      const heap = new DueHeap<DueItem>()
      const items = rows.map(([dueMs]) => ({ dueMs, heapIndex: -1 }))
      for (const item of items) heap.add(item)
      const kept = items.filter((_item, i) => rows[i]![1])
      for (const item of items) if (!kept.includes(item)) heap.remove(item)
      const out: number[] = []
      for (let first = heap.first; first !== undefined; first = heap.first) {
        out.push(first.dueMs)
        heap.remove(first)
        heap.remove(first)
      }
      expect(out).toEqual(kept.map((item) => item.dueMs).sort((a, b) => a - b))
      expect(heap.size).toBe(0)
    }),
  )
})
