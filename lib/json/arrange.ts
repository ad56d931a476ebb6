import type { SluiceError } from "../errors.ts";
import { DEFAULT_LIMITS } from "../limits.ts";
import { hasPlainPrototype, hasToJson, isArranged } from "./is-arranged.ts";
import type { PathStep } from "./json-fault.ts";
import { parseText } from "./parse-json.ts";
import { RawJson } from "./raw-json.ts";
import { setMember } from "./set-member.ts";
import { sortedNames } from "./sorted-names.ts";
import { unencodable, UnencodableReason } from "./unencodable.ts";

const MAX_DEPTH = DEFAULT_LIMITS.jsonDepth;

/** What {@link arrange} returns. */
export interface Arranged {
  /** Plain JSON data: the value itself where nothing had to change, copies where something had. */
  readonly tree: unknown;
  /** Whether the members of every object come in sorted order when it is iterated. */
  readonly plainOrder: boolean;
}

/**
 * Checks that a value can be encoded, and puts its members in canonical order where they are not.
 *
 * @throws {SluiceError} `unencodable`, or the parse error of a {@link RawJson}.
 */
export function arrange(value: unknown): Arranged {
  if (isArranged(value, MAX_DEPTH)) return { tree: value, plainOrder: true };
  const arranger = new Arranger();
  const tree = arranger.value(value, "", 0);
  if (tree === undefined) throw unencodable(UnencodableReason.Undefined, []);
  return { tree, plainOrder: arranger.plainOrder };
}

type Members = { readonly [name: string]: unknown };

class Arranger {
  plainOrder = true;
  /** The containers from the top to the current value, and the step from each to the next. */
  readonly #containers: object[] = [];
  readonly #steps: PathStep[] = [];
  readonly #inherited: boolean = inheritsMembers();

  /** The value as plain data, or undefined when it is to be left out. */
  value(value: unknown, step: PathStep, depth: number): unknown {
    if (typeof value === "string" && depth <= MAX_DEPTH) return value;
    if (depth > 0) this.#steps[depth - 1] = step;
    switch (typeof value) {
      case "object":
        if (value !== null) return this.#object(value, step, depth);
        break;
      case "number":
        if (!Number.isFinite(value)) throw this.#refusal(UnencodableReason.NotFinite, depth);
        break;
      case "bigint":
        throw this.#refusal(UnencodableReason.BigInt, depth);
      case "function":
        throw this.#refusal(UnencodableReason.Function, depth);
      case "symbol":
        throw this.#refusal(UnencodableReason.Symbol, depth);
    }
    if (value !== undefined && depth > MAX_DEPTH) throw this.#tooDeep();
    return value;
  }

  #object(value: object, step: PathStep, depth: number): unknown {
    if (value instanceof RawJson) return this.#raw(value, step, depth);
    if (!hasToJson(value)) return this.#container(value, depth);
    const json: unknown = value.toJSON(String(step));
    if (typeof json !== "object" || json === null) return this.value(json, step, depth);
    // JSON.stringify would call it again.
    if (hasToJson(json)) throw this.#refusal(UnencodableReason.NotPlain, depth);
    return json instanceof RawJson ? this.#raw(json, step, depth) : this.#container(json, depth);
  }

  #raw(raw: RawJson, step: PathStep, depth: number): unknown {
    if (depth > MAX_DEPTH) throw this.#tooDeep();
    return this.value(parseText(raw.text, MAX_DEPTH - depth), step, depth);
  }

  #container(container: object, depth: number): object {
    if (depth > MAX_DEPTH) throw this.#tooDeep();
    this.#containers[depth] = container;
    if (Array.isArray(container)) return this.#elements(container, depth + 1);
    if (!hasPlainPrototype(container)) throw this.#refusal(UnencodableReason.NotPlain, depth);
    return this.#isSorted(container)
      ? this.#sorted(container, depth + 1)
      : this.#resorted(container, depth + 1);
  }

  #elements(elements: readonly unknown[], depth: number): readonly unknown[] {
    let copy: unknown[] | undefined;
    for (let index = 0; index < elements.length; index++) {
      const element = elements[index];
      const arranged = this.value(element, index, depth);
      if (arranged === undefined) throw this.#refusal(UnencodableReason.Undefined, depth);
      if (copy === undefined && arranged !== element) copy = elements.slice(0, index);
      copy?.push(arranged);
    }
    return copy ?? elements;
  }

  #isSorted(members: Members): boolean {
    if (this.#inherited) return false;
    let previous: string | undefined;
    for (const name in members) {
      if (previous !== undefined && previous >= name) return false;
      previous = name;
    }
    return true;
  }

  /** Copies only from the first member on that is not plain data in order already. */
  #sorted(members: Members, depth: number): Members {
    let copy: Record<string, unknown> | undefined;
    for (const name in members) {
      const member = members[name];
      const arranged = this.value(member, name, depth);
      if (copy === undefined && arranged !== member) copy = membersBefore(members, name);
      if (copy !== undefined && arranged !== undefined) setMember(copy, name, arranged);
    }
    return copy ?? members;
  }

  #resorted(members: Members, depth: number): Members {
    const copy: Record<string, unknown> = {};
    for (const name of sortedNames(members)) {
      const arranged = this.value(members[name], name, depth);
      if (arranged === undefined) continue;
      setMember(copy, name, arranged);
      if (mayBeIndex(name)) this.plainOrder = false;
    }
    return copy;
  }

  #tooDeep(): SluiceError {
    const seen = new Set<object>();
    for (const [depth, container] of this.#containers.entries()) {
      if (seen.has(container)) return this.#refusal(UnencodableReason.Cycle, depth);
      seen.add(container);
    }
    return this.#refusal(UnencodableReason.Depth, MAX_DEPTH + 1);
  }

  #refusal(reason: UnencodableReason, depth: number): SluiceError {
    return unencodable(reason, this.#steps.slice(0, depth));
  }
}

function membersBefore(members: Members, end: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name in members) {
    if (name === end) break;
    if (members[name] !== undefined) setMember(copy, name, members[name]);
  }
  return copy;
}

/** Whether an object may place a name before others that were set earlier. */
function mayBeIndex(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && /^\d+$/.test(name);
}

/** Whether iterating over an empty object finds something. */
function inheritsMembers(): boolean {
  for (const _ in Object.prototype) return true;
  return false;
}
