// Diagnostics of deliveries.
import type { DiagnosticSpec } from './diagnostic-spec.ts'

export const deliveryDiagnostics = {
  'delivery-wave': {
    severity: 'error',
    message: 'the wave has %s',
    help: 'write nodes (labels) or percent (a share), one of the two',
    cause: 'A wave is for nodes with labels, or for a share of all.',
    bad: 'waves: [{ nodes: canary=true, percent: 10 }, { percent: 100 }]',
    good: 'waves: [{ nodes: canary=true }, { percent: 10 }, { percent: 100 }]',
  },
  'delivery-labels': {
    severity: 'error',
    message: '"%s" does not say which labels a node must have',
    help: 'write key=value, or several with commas between them, each key once',
    cause: 'Keys are small letters, digits and dots, dashes, underscores, slashes inside.',
    bad: 'waves: [{ nodes: canary }, { percent: 100 }]',
    good: 'waves: [{ nodes: canary=true }, { percent: 100 }]',
  },
  'delivery-duration': {
    severity: 'error',
    message: '"%s" is not a duration of at most 7 days',
    help: 'write a number with a unit, such as 30s, 5m or 2h',
    cause: 'A change waits for so long; later changes replace it.',
    bad: 'waves: [{ percent: 10, hold: 5 minutes }, { percent: 100 }]',
    good: 'waves: [{ percent: 10, hold: 5m }, { percent: 100 }]',
  },
  'delivery-no-nodes': {
    severity: 'error',
    message: 'no node is left for the labels "%s": wave %s has them all',
    help: 'write the wave with more labels first, or leave this one out',
    cause: 'A node with these labels has those of the earlier wave, and belongs to that one.',
    bad: 'waves: [{ nodes: canary=true }, { nodes: "canary=true,site=fra1" }, { percent: 100 }]',
    good: 'waves: [{ nodes: "canary=true,site=fra1" }, { nodes: canary=true }, { percent: 100 }]',
  },
  'delivery-not-rising': {
    severity: 'error',
    message: '%s percent is not more than the %s percent of a wave before',
    help: 'let the shares rise from wave to wave',
    cause: 'A share counts the nodes of earlier waves, so this wave would have none.',
    bad: 'waves: [{ percent: 50 }, { percent: 10 }, { percent: 100 }]',
    good: 'waves: [{ percent: 10 }, { percent: 50 }, { percent: 100 }]',
  },
  'delivery-never-ends': {
    severity: 'error',
    message: 'the last wave does not reach all nodes',
    help: 'add { percent: 100 } as the last wave',
    cause: 'Nodes of no wave would never get a change.',
    bad: 'waves: [{ nodes: canary=true }, { percent: 50 }]',
    good: 'waves: [{ nodes: canary=true }, { percent: 50 }, { percent: 100 }]',
  },
  'delivery-duplicate': {
    severity: 'error',
    message: 'there is another delivery for the channel "%s"',
    help: 'keep one of the two',
    cause: 'A new bundle travels in one way.',
    bad: '# deliveries/a.yaml and deliveries/b.yaml\nspec: { channel: main }',
    good: '# deliveries/main.yaml\nspec: { channel: main }',
  },
} as const satisfies Record<string, DiagnosticSpec>
