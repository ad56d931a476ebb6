/**
 * Tells whether `JSON.stringify` writes a value in canonical order as it is: plain data throughout,
 * members sorted, numbers finite, not too deep.
 *
 * @param room How many levels there may be below the value.
 * @returns False also for some values that are fine, such as one with a `toJSON` method in it.
 */
export function isArranged(value: unknown, room: number): boolean {
  // Names that every object inherits would be taken for members of each.
  for (const _ in Object.prototype) return false;
  return isContainer(value) ? isArrangedContainer(value, room) : isScalar(value);
}

function isArrangedContainer(container: object, room: number): boolean {
  if (room <= 0 || hasToJson(container)) return false;
  if (Array.isArray(container)) return areArranged(container, room);
  if (!hasPlainPrototype(container)) return false;
  let previous: string | undefined;
  for (const name in container) {
    if (previous !== undefined && previous >= name) return false;
    previous = name;
    const member = container[name];
    if (isContainer(member)) {
      if (!isArrangedContainer(member, room - 1)) return false;
    } else if (!isScalar(member) && member !== undefined) {
      return false;
    }
  }
  return true;
}

function areArranged(elements: readonly unknown[], room: number): boolean {
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index];
    const fine = isContainer(element) ? isArrangedContainer(element, room - 1) : isScalar(element);
    if (!fine) return false;
  }
  return true;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Tells whether a value that is no object has a JSON text. */
function isScalar(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean" || value === null;
}

/** Tells whether an object is plain by its prototype. */
export function hasPlainPrototype(value: object): value is { readonly [name: string]: unknown } {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Tells whether `JSON.stringify` would call a method of the object. */
export function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === "function";
}
